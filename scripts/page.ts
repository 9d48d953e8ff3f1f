// Builds the owner's page from web/owner, for the agent in a checkout and in a bundle.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';
import type { Asset } from '../src/agent/http/index.ts';

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

/** The page's HTML refers to `main-5X3QKJ2A.js` as `main.js`. */
const plainName = (file: string): string => file.replace(/^\/(.*)-[A-Z0-9]{8}(\.\w+)$/, '$1$2');

/**
 * All files of the page. Their names contain a hash of their content, so browsers can cache them forever; only `/`, which
 * refers to them, is revalidated. Nothing is inline: the agent's Content-Security-Policy forbids it.
 */
export const buildOwnerPage = (): readonly Asset[] => {
  // Not `build`: it starts a child process that lives as long as this one.
  const { outputFiles } = buildSync({
    absWorkingDir: SOURCES,
    entryPoints: ['main.tsx', 'style.css', 'icon.svg'],
    entryNames: '[name]-[hash]',
    outdir: '/',
    loader: { '.svg': 'copy' },
    bundle: true,
    minify: true,
    format: 'esm',
    // The WebView of devices that are a few years old.
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
    if (file === undefined) throw new Error(`web/owner/index.html names ${name}, which the build does not produce`);
    return file;
  });
  return [asset('/', 'text/html; charset=utf-8', html), ...files];
};
