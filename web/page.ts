// Builds the owner's page from web/owner and the dashboard's from web/fleet, for a checkout and for the bundles.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';
import type { Asset } from '../src/http/index.ts';
import { COLOR_PACKAGE, colorSheet } from './colors.ts';
import { iconsOf } from './icons.ts';

const WEB = import.meta.dirname;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const etagOf = (body: string): string => `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;

const asset = (file: string, contentType: string, body: string): Asset => ({
  path: file,
  contentType,
  body,
  etag: etagOf(body),
});

/** The page's HTML refers to `main-5X3QKJ2A.js` as `main.js`. */
const plainName = (file: string): string => file.replace(/^\/(.*)-[A-Z0-9]{8}(\.\w+)$/, '$1$2');

export interface BuiltPage {
  assets: readonly Asset[];
  /** The absolute paths of what went into them. */
  inputs: readonly string[];
}

/**
 * All files of the page. Their names contain a hash of their content, so browsers can cache them forever; only `/`, which
 * refers to them, is revalidated. Nothing is inline: the servers' Content-Security-Policy forbids it.
 */
export const buildPage = (page: 'owner' | 'fleet'): BuiltPage => {
  const sources = path.join(WEB, page);
  const icons = iconsOf(sources);
  // Not `build`: it starts a child process that lives as long as this one.
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: sources,
    entryPoints: ['main.tsx', 'style.css', '../icon.svg'],
    entryNames: '[name]-[hash]',
    outdir: '/',
    loader: { '.svg': 'copy' },
    banner: { css: colorSheet(page) },
    define: { ICONS: JSON.stringify(icons.drawings) },
    bundle: true,
    minify: true,
    format: 'esm',
    // The WebView of devices that are a few years old.
    target: ['es2022', 'chrome105', 'firefox110', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const files = outputFiles.map(({ path: file, text }) => {
    const name = `/${path.basename(file)}`;
    return asset(name, CONTENT_TYPES[path.extname(name)] ?? 'application/octet-stream', text);
  });
  const names = new Map(files.map((file) => [plainName(file.path), file.path]));
  const template = readFileSync(path.join(sources, 'index.html'), 'utf8');
  const html = template.replaceAll(/%([\w.]+)%/g, (_, part: string) => {
    const file = names.get(part);
    if (file === undefined) throw new Error(`web/${page}/index.html names ${part}, which the build does not produce`);
    return file;
  });
  return {
    assets: [asset('/', 'text/html; charset=utf-8', html), ...files],
    inputs: [
      ...Object.keys(metafile.inputs).map((input) => path.resolve(sources, input)),
      COLOR_PACKAGE,
      ...icons.files,
    ],
  };
};
