// Bundles the agent for devices: one file that holds everything, its page too, and needs nothing but Node.

import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { buildOwnerPage } from './build-page.ts';

const root = path.join(import.meta.dirname, '..');

/** A module that is another one in the bundle. */
interface Replacement {
  /** As esbuild finds it: the absolute path of a source, or the name of a package. */
  filter: RegExp;
  contents: () => string;
}

/**
 * undici's main module loads all of it: fetch, web sockets, caches, mocks. Three classes are what our client uses, and the
 * rest would cost a device 9 MiB.
 */
const undici: Replacement = {
  filter: /^undici$/,
  contents: () => `
    export { default as Client } from 'undici/lib/dispatcher/client.js';
    export { default as Pool } from 'undici/lib/dispatcher/pool.js';
    export { default as buildConnector } from 'undici/lib/core/connect.js';
  `,
};

/** Built here, for a device holds no build tools. */
const ownerPage: Replacement = {
  filter: /\/assets\.ts$/,
  contents: () => `export const ownerPage = async () => ${JSON.stringify(buildOwnerPage())};`,
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

/** Some packages are CommonJS and call for Node's modules by `require`, which a module does not have by itself. */
const BANNER = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;

export interface AgentBundle {
  /** The absolute path of the file. */
  file: string;
  /** What went into it, see `esbuild --analyze`. */
  metafile: Metafile;
}

/** Writes `edgeset-agent.mjs` into the folder. */
export const buildAgent = async (folder: string): Promise<AgentBundle> => {
  const file = path.join(folder, 'edgeset-agent.mjs');
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['scripts/agent-entry.ts'],
    outfile: file,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    banner: { js: BANNER },
    // undici's own switch: leaves its second, experimental parser out.
    define: { esbuildDetection: 'true' },
    plugins: [replace(undici, ownerPage)],
    // Text of one byte a character: a single umlaut in a comment would double what V8 holds of the file.
    charset: 'ascii',
    legalComments: 'external',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  await mkdir(folder, { recursive: true });
  for (const output of outputFiles) {
    // Whole or not at all: another one may start it at this moment.
    const part = `${output.path}.${process.pid}`;
    await writeFile(part, output.contents);
    await rename(part, output.path);
  }
  return { file, metafile };
};
