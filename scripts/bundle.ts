// Bundles the programs into files that hold everything and need only Node.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { descriptionTable } from '../embedded/index.ts';
import { buildPage } from '../web/page.ts';
import { type BundledPackage, noticesOf, packagesIn } from './notices.ts';

const root = path.join(import.meta.dirname, '..');

/** A module that the bundle replaces by another one. */
export interface Replacement {
  /** As esbuild finds it: the absolute path of a source, or the name of a package. */
  filter: RegExp;
  contents: () => string;
}

/** yaml for browsers is the same in ES modules: the bundle holds less of it, and can load it on demand. */
const yaml: Replacement = {
  filter: /^yaml$/,
  contents: () => `export * from ${JSON.stringify(path.join(root, 'node_modules/yaml/browser/index.js'))};`,
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

/** commander can start subcommands that are programs of their own. There are none, and loading what starts them takes 5 ms. */
const noSubprograms: Plugin = {
  name: 'no-subprograms',
  setup(bundler) {
    bundler.onResolve({ filter: /^node:(child_process|fs)$/ }, ({ importer }) =>
      /\/node_modules\/commander\//.test(importer) ? { path: 'none', namespace: 'none' } : undefined,
    );
    bundler.onLoad({ filter: /./, namespace: 'none' }, () => ({ contents: 'export default {};' }));
  },
};

/**
 * Node's own modules, as Node's own modules load each other. To import one, Node makes an ES module of it and reads all of its
 * exports, which loads whatever an export is made of on demand: WebCrypto, worker threads, the REPL.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup(bundler) {
    const load = (name: string): string => `process.getBuiltinModule(${JSON.stringify(name)})`;
    bundler.onResolve({ filter: /./ }, ({ path: name, kind }) =>
      // What is experimental is loaded on demand, and warns.
      isBuiltin(name) && kind !== 'dynamic-import'
        ? { path: name, namespace: kind === 'require-call' ? 'required' : 'imported', sideEffects: false }
        : undefined,
    );
    bundler.onLoad({ filter: /./, namespace: 'required' }, ({ path: name }) => ({
      contents: `module.exports = ${load(name)};`,
    }));
    // What nobody imports is not in the bundle, and not read.
    bundler.onLoad({ filter: /./, namespace: 'imported' }, ({ path: name }) => ({
      contents: [
        `const all = /* @__PURE__ */ ${load(name)};`,
        'export default all;',
        ...Object.keys(process.getBuiltinModule(name) ?? {}).map(
          (key, index) =>
            `const _${index} = /* @__PURE__ */ (() => all[${JSON.stringify(key)}])(); export { _${index} as ${JSON.stringify(key)} };`,
        ),
      ].join('\n'),
    }));
  },
};

/** esbuild follows `require`, but not one that the module made itself. */
const followRequire: Plugin = {
  name: 'follow-require',
  setup(bundler) {
    bundler.onLoad({ filter: /\/embedded\/apiserver\/crd\/cel\.ts$/ }, ({ path: file }) => {
      const [before, after, ...others] = readFileSync(file, 'utf8').split(
        'const require = createRequire(import.meta.url);',
      );
      if (before === undefined || after === undefined || others.length > 0)
        throw new Error(`${file} no longer makes its own require: remove this plugin`);
      return { contents: before + after, loader: 'ts' };
    });
  },
};

/** The oldest Node of `engines` in package.json. The images and the executable have the newest one. */
const OLDEST_NODE = 'node22.19';

export interface Bundle {
  /** The absolute path of the program; of the first one, if it has several. */
  file: string;
  /** What went into it, see `esbuild --analyze`. */
  metafile: Metafile;
  /** The absolute path of the licenses of what is in it. */
  notices: string;
  /** The packages of which it holds code. */
  packages: readonly BundledPackage[];
}

interface Program {
  /** Names of the files to write, without their extension, each with its entry point. */
  entries: Readonly<Record<string, string>>;
  /** Default: an ES module. `script`: for bin/load-program.ts, which passes `module` and `moduleUrl`. */
  format?: 'module' | 'script';
  replacements?: readonly Replacement[];
  /** Inputs that are in the bundle as text. */
  inputs?: readonly string[];
  /** Files that it reads from beside itself, by name. */
  data?: Readonly<Record<string, string>>;
  /** Global constants, each with its code. */
  define?: Readonly<Record<string, string>>;
}

/** esbuild leaves the characters of regular expressions as they are. There, an escape means the same. */
const escapeRegExps = (text: string): string =>
  text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Writes the program into the folder, and beside it the licenses of what is in it. */
const bundle = async (
  folder: string,
  { entries, format = 'module', replacements = [], inputs = [], data = {}, define = {} }: Program,
): Promise<Bundle> => {
  const [first = ''] = Object.keys(entries);
  const extension = format === 'module' ? '.mjs' : '.cjs';
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: folder,
    outExtension: { '.js': extension },
    bundle: true,
    minify: true,
    platform: 'node',
    target: OLDEST_NODE,
    format: format === 'module' ? 'esm' : 'cjs',
    define: {
      ...(format === 'script' && { 'import.meta.url': 'moduleUrl' }),
      ...define,
    },
    plugins: [replace(yaml, manifest, ...replacements), noSubprograms, builtins, followRequire],
    // One byte a character: a single umlaut in a comment would double the memory that V8 needs for the file.
    charset: 'ascii',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  const file = path.join(folder, `${first}${extension}`);
  const notices = `${file}.LEGAL.txt`;
  const packages = packagesIn([...Object.keys(metafile.inputs), ...inputs], root);
  const files = [
    ...outputFiles.map(({ path: name, text }) => ({ path: name, contents: Buffer.from(escapeRegExps(text)) })),
    ...Object.entries(data).map(([name, contents]) => ({
      path: path.join(folder, name),
      contents: Buffer.from(contents),
    })),
    ...(packages.length > 0 ? [{ path: notices, contents: noticesOf(path.basename(file), packages) }] : []),
  ];
  for (const output of files) {
    await mkdir(path.dirname(output.path), { recursive: true });
    // Atomically: somebody may start the file at this moment.
    const part = `${output.path}.${process.pid}`;
    const isExecutable = Buffer.from(output.contents.slice(0, 2)).toString() === '#!';
    await writeFile(part, output.contents, { mode: isExecutable ? 0o755 : 0o644 });
    await rename(part, output.path);
  }
  return { file, metafile, packages, notices };
};

/** Of the program's own manifest, it needs to know its version. */
const manifest: Replacement = {
  filter: /(^|\/)package\.json$/,
  contents: () => {
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
    return `export default ${JSON.stringify({ version })};`;
  },
};

/** The pages are built now, because where they are served there are no build tools. */
const withPages = (...pages: readonly ('owner' | 'fleet')[]): Required<Pick<Program, 'replacements' | 'inputs'>> => {
  const built = pages.map((page) => ({ page, ...buildPage(page) }));
  return {
    replacements: built.map(({ page, assets }) => ({
      filter: new RegExp(`^#${page}-page$`),
      contents: () => `export const ${page}Page = async () => ${JSON.stringify(assets)};`,
    })),
    inputs: built.flatMap(({ inputs }) => inputs),
  };
};

/** Writes `edgeset-agent.mjs` into the folder. */
export const buildAgent = (folder: string): Promise<Bundle> =>
  bundle(folder, { entries: { 'edgeset-agent': 'bin/agent.ts' }, ...withPages('owner') });

/** Writes `edgeset-manager.mjs` into the folder. Run from sources, Node's type stripper would keep 27 MiB for good. */
export const buildManager = (folder: string): Promise<Bundle> =>
  bundle(folder, { entries: { 'edgeset-manager': 'bin/manager.ts' } });

/** Writes `edgeset-dashboard.mjs` into the folder. */
export const buildDashboard = (folder: string): Promise<Bundle> =>
  bundle(folder, { entries: { 'edgeset-dashboard': 'bin/dashboard.ts' }, ...withPages('fleet') });

/** Tells what V8 compiled of one build from what it compiled of another. */
const identityOf = async (file: string): Promise<Readonly<Record<string, string>>> => {
  const digest = createHash('sha256').update(await readFile(file));
  return { PROGRAM_ID: JSON.stringify(digest.digest('hex').slice(0, 16)) };
};

/** Writes `program.cjs`, which all names of the command line load. */
const buildProgram = (folder: string, data: Program['data'] = {}): Promise<Bundle> => {
  const { inputs, ...pages } = withPages('owner', 'fleet');
  return bundle(folder, {
    entries: { program: 'src/cli/index.ts' },
    format: 'script',
    data,
    ...pages,
    inputs: [
      ...inputs,
      ...(data['descriptions.txt'] === undefined ? [] : ['node_modules/kubernetes-types/package.json']),
    ],
  });
};

/** Writes the programs that npm puts on the PATH, `edgeset.mjs` and the others, and what they load. */
export const buildCli = async (folder: string): Promise<Bundle> => {
  const program = await buildProgram(folder, {
    'definitions.txt': readFileSync(path.join(root, 'embedded/apiserver/schema/definitions.txt'), 'utf8'),
    'descriptions.txt': descriptionTable(),
  });
  const entries = {
    edgeset: 'bin/installed.ts',
    'kubectl-edgeset': 'bin/installed-plugin.ts',
    'kubectl_complete-edgeset': 'bin/installed-completion.ts',
  };
  await bundle(folder, { entries, define: await identityOf(program.file) });
  return program;
};

/** Writes `executable.mjs`, the main module of the executable, and the program that it takes from there. */
export const buildPlugin = async (folder: string): Promise<Bundle & { main: string }> => {
  const program = await buildProgram(folder);
  const { file: main } = await bundle(folder, {
    entries: { executable: 'bin/executable.ts' },
    define: await identityOf(program.file),
  });
  return { ...program, main };
};

/** Writes the program of each image into its folder below this one. By the name of the image. */
export const buildImagePrograms = async (
  folder: string,
): Promise<Record<'agent' | 'manager' | 'dashboard', Bundle>> => {
  const [agent, manager, dashboard] = await Promise.all([
    buildAgent(path.join(folder, 'agent')),
    buildManager(path.join(folder, 'manager')),
    buildDashboard(path.join(folder, 'dashboard')),
  ]);
  return { agent, manager, dashboard };
};

/** Writes every program as it is shipped: those of the images into their folders, the command line into `cli`. */
export const buildPrograms = async (
  folder: string,
): Promise<Record<'agent' | 'manager' | 'dashboard' | 'cli', Bundle>> => {
  const [programs, cli] = await Promise.all([buildImagePrograms(folder), buildCli(path.join(folder, 'cli'))]);
  return { ...programs, cli };
};
