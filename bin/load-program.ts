import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { constants, Script } from 'node:vm';
import type { complete, main, processIo } from '../src/cli/index.ts';

/** What src/cli/index.ts exports. */
interface Program {
  main: typeof main;
  complete: typeof complete;
  processIo: typeof processIo;
}

/** Of the program's bytes. Set by scripts/bundle.ts. */
declare const PROGRAM_ID: string;

/** Beside what other programs cache for this user. A folder in /tmp could be another user's. */
const cacheFolder = (): string => {
  const { NODE_COMPILE_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const caches = XDG_CACHE_HOME || LOCALAPPDATA || path.join(homedir(), '.cache');
  return NODE_COMPILE_CACHE || path.join(caches, 'edgeset', 'compiled');
};

/** Each command uses other functions. The name of the file also says for which program and which Node it is. */
const cacheFile = (folder: string, word = 'none'): string => {
  const { version, arch } = process;
  const command = /^[a-z_]{1,20}$/.test(word) ? word : 'none';
  return path.join(folder, `${PROGRAM_ID}-${version}-${arch}-${command}`);
};

const read = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
};

/** Whole or not at all, also after a power cut: V8 would run what is damaged. */
const write = (file: string, data: Buffer): void => {
  const part = `${file}.${process.pid}`;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    const descriptor = openSync(part, 'w', 0o600);
    writeSync(descriptor, data);
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(part, file);
  } catch {
    // The next start takes longer, which is all.
  }
};

/**
 * Runs program.cjs, whose code is `source()`, with the functions that V8 compiled when this command ran for the first time. Node's
 * own cache is made before a module runs, so it lacks nearly all of them.
 */
export const loadProgram = (moduleUrl: string, source: () => string, command = process.argv[2]): Program => {
  const isCaching = !process.env.NODE_DISABLE_COMPILE_CACHE;
  const file = isCaching ? cacheFile(cacheFolder(), command) : '';
  const cachedData = isCaching ? read(file) : undefined;
  const script = new Script(`(function (module, moduleUrl) {${source()}\n})`, {
    filename: moduleUrl,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData && { cachedData }),
  });
  if (isCaching && (!cachedData || script.cachedDataRejected))
    process.once('exit', (code) => {
      // What a mistyped command ran is of no use.
      if (code === 0) write(file, script.createCachedData());
    });
  const module = { exports: {} as Program };
  const run = script.runInThisContext() as (module: { exports: Program }, moduleUrl: string) => void;
  run(module, moduleUrl);
  return module.exports;
};

/** The program in the folder of the file that was started. */
export const loadInstalled = (command?: string): Program => {
  const file = new URL('program.cjs', import.meta.url);
  // It is ASCII.
  return loadProgram(file.href, () => readFileSync(file, 'latin1'), command);
};
