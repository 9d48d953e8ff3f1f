// Bundles the programs: one file each that holds everything and needs only Node.

import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { buildOwnerPage } from './page.ts';

const root = path.join(import.meta.dirname, '..');

/** A module that the bundle replaces by another one. */
export interface Replacement {
  /** As esbuild finds it: the absolute path of a source, or the name of a package. */
  filter: RegExp;
  contents: () => string;
}

/**
 * undici's main module loads all of it: fetch, web sockets, caches, mocks. The client uses three classes, and the rest would
 * cost a process 9 MiB.
 */
const undici: Replacement = {
  filter: /^undici$/,
  contents: () => `
    export { default as Client } from 'undici/lib/dispatcher/client.js';
    export { default as Pool } from 'undici/lib/dispatcher/pool.js';
    export { default as buildConnector } from 'undici/lib/core/connect.js';
  `,
};

const replace = (...replacements: readonly Replacement[]): Plugin => ({
  name: 'replace',
  setup(bundler) {
    for (const { filter, contents } of replacements) {
      bundler.onResolve({ filter }, ({ path: name }) => ({ path: name, namespace: 'replaced' }));
      bundler.onLoad({ filter, namespace: 'replaced' }, () => ({ contents: contents(), resolveDir: root }));
    }
  },
});

/** Some packages are CommonJS and need `require`, which an ES module does not have. */
const BANNER = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;

export interface Bundle {
  /** The absolute path of the file. */
  file: string;
  /** What went into it, see `esbuild --analyze`. */
  metafile: Metafile;
}

/** Writes `<name>.mjs` into the folder, and beside it the licenses of what is in it. */
const bundle = async (
  folder: string,
  { name, entry, replacements = [] }: { name: string; entry: string; replacements?: readonly Replacement[] },
): Promise<Bundle> => {
  const file = path.join(folder, `${name}.mjs`);
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    banner: { js: BANNER },
    // undici's own switch: leaves its second, experimental parser out.
    define: { esbuildDetection: 'true' },
    plugins: [replace(undici, ...replacements)],
    // One byte a character: a single umlaut in a comment would double the memory that V8 needs for the file.
    charset: 'ascii',
    legalComments: 'external',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  await mkdir(folder, { recursive: true });
  for (const output of outputFiles) {
    // Atomically: somebody may start the file at this moment.
    const part = `${output.path}.${process.pid}`;
    await writeFile(part, output.contents);
    await rename(part, output.path);
  }
  return { file, metafile };
};

/** The page is built now, because a device has no build tools. */
const ownerPage: Replacement = {
  filter: /^#owner-page$/,
  contents: () => `export const ownerPage = async () => ${JSON.stringify(buildOwnerPage())};`,
};

/** Writes `edgeset-agent.mjs` into the folder. */
export const buildAgent = (folder: string): Promise<Bundle> =>
  bundle(folder, { name: 'edgeset-agent', entry: 'bin/agent.ts', replacements: [ownerPage] });

/** Writes `edgeset-manager.mjs` into the folder. Run from sources, Node's type stripper would keep 27 MiB for good. */
export const buildManager = (folder: string): Promise<Bundle> =>
  bundle(folder, { name: 'edgeset-manager', entry: 'bin/manager.ts' });
