// Builds the owner's page from web/owner: what the agent serves in a checkout and what its bundle has inside.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';
import type { Asset } from '../src/agent/page/index.ts';

const SOURCES = path.join(import.meta.dirname, '../web/owner');

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

/** `main-5X3QKJ2A.js` is `main.js` to the page's HTML. */
const plainName = (file: string): string => file.replace(/^\/(.*)-[A-Z0-9]{8}(\.\w+)$/, '$1$2');

/**
 * All files of the page. Their names carry a hash of their content, so that they may be kept for ever; only `/`, which
 * names them, is asked for anew. Nothing is inline: the agent's Content-Security-Policy forbids it.
 */
export const buildOwnerPage = (): readonly Asset[] => {
  // Not `build`: it leaves a process behind that lives as long as ours.
  const { outputFiles } = buildSync({
    absWorkingDir: SOURCES,
    entryPoints: ['main.tsx', 'style.css', 'icon.svg'],
    entryNames: '[name]-[hash]',
    outdir: '/',
    loader: { '.svg': 'copy' },
    bundle: true,
    minify: true,
    format: 'esm',
    // WebView of devices that are some years old.
    target: ['es2022', 'chrome105', 'firefox110', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    write: false,
    logLevel: 'silent',
  });
  const files = outputFiles.map(({ path: file, text }) => {
    const name = `/${path.basename(file)}`;
    return asset(name, CONTENT_TYPES[path.extname(name)] ?? 'application/octet-stream', text);
  });
  const names = new Map(files.map((file) => [plainName(file.path), file.path]));
  const template = readFileSync(path.join(SOURCES, 'index.html'), 'utf8');
  const html = template.replaceAll(/%([\w.]+)%/g, (_, name: string) => {
    const file = names.get(name);
    if (file === undefined) throw new Error(`web/owner/index.html names ${name}, which the build does not make`);
    return file;
  });
  return [asset('/', 'text/html; charset=utf-8', html), ...files];
};
