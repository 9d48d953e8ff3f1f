import { readFileSync } from 'node:fs';
import path from 'node:path';
import { colorsOf } from '../../web/colors.ts';
import { anchorOf } from '../check-tree.ts';
import { GITHUB, siteLink } from './links.ts';
import { INDEX, readPages, root } from './pages.ts';
import { sidebarOf } from './sidebar.ts';

/** What this file uses of markdown-it. VitePress has its types, and is installed apart. */
interface Token {
  type: string;
  info: string;
  children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}
interface MarkdownIt {
  core: {
    ruler: {
      push(name: string, rule: (state: { tokens: Token[]; env: { relativePath?: string } }) => void): void;
    };
  };
}

const pages = readPages();
const target = { pages: new Set(pages.keys()), ref: process.env['EDGESET_DOCS_REF'] ?? 'main' };
const icon = `data:image/svg+xml;base64,${readFileSync(path.join(root, 'web/icon.svg')).toString('base64')}`;

/** What GitHub and the tests that run pages read otherwise than VitePress: links, and the mark of what the API server refuses. */
const adaptPages = (markdown: MarkdownIt): void =>
  markdown.core.ruler.push('edgeset', ({ tokens, env }) => {
    // The name that the page has after `rewrites`, in the same folder.
    const page = env.relativePath ?? INDEX;
    for (const token of tokens) {
      if (token.type === 'fence' && token.info === 'refused') token.info = 'text';
      for (const child of token.children ?? []) {
        const href = child.type === 'link_open' ? child.attrGet('href') : null;
        if (href !== null) child.attrSet('href', siteLink(page, decodeURI(href), target));
      }
    }
  });

const brand = (selector: string, { accent }: Readonly<Record<string, string>>): string =>
  `${selector} { --vp-c-brand-1: ${accent}; --vp-c-brand-2: ${accent}; --vp-c-brand-soft: color-mix(in srgb, ${accent} 14%, transparent); }`;

/** The accent of the dashboard on the surfaces of VitePress, and more room for tables. */
const STYLE = `
${brand(':root', colorsOf('fleet', 'light'))}
${brand('.dark', colorsOf('fleet', 'dark'))}
@media (min-width: 1440px) { .VPDoc.has-aside .content-container { max-width: 50rem !important; } }
`;

/** What Vite's own default asks for, the repository's version of esbuild no longer does. */
const TARGET = 'es2022';

export const config = {
  srcDir: path.join(root, 'docs'),
  outDir: path.join(root, 'dist/docs'),
  cacheDir: path.join(root, 'scripts/site/vitepress/node_modules/.cache'),
  rewrites: { [INDEX]: 'index.md' },
  lang: 'en',
  title: 'edgeset',
  description: 'DaemonSet rollouts for machines that come and go',
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: icon }],
    ['style', {}, STYLE],
  ],
  markdown: { anchor: { slugify: anchorOf }, config: adaptPages },
  vite: {
    // The index of the search has the text of all pages.
    build: { target: TARGET, chunkSizeWarningLimit: 4096 },
    optimizeDeps: { esbuildOptions: { target: TARGET } },
  },
  themeConfig: {
    logo: icon,
    search: { provider: 'local' },
    sidebar: sidebarOf(pages),
    outline: { level: [2, 3] },
    // By name: VitePress asks another host for its picture.
    nav: [{ text: 'GitHub', link: GITHUB }],
    editLink: { pattern: `${GITHUB}/edit/main/docs/:path` },
  },
};
