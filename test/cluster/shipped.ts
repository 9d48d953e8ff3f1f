import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPrograms } from '../../scripts/bundle.ts';
import type { Plugin } from '../conformance/index.ts';

type ProgramName = 'manager' | 'agent' | 'dashboard' | 'cli';

const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeset-programs-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

let built: Promise<string> | undefined;

/** What `npm run build` writes into dist/. A suite builds it once for all of its files (scripts/test.ts). */
const folderOfPrograms = (): Promise<string> => {
  const { EDGESET_PROGRAMS: ofSuite } = process.env;
  built ??= ofSuite
    ? Promise.resolve(ofSuite)
    : Promise.resolve(temporary()).then(async (folder) => {
        await buildPrograms(folder);
        return folder;
      });
  return built;
};

/** The file of a program as it is shipped, which also starts three times as fast as its sources. */
export const shippedProgram = async (name: Exclude<ProgramName, 'cli'>): Promise<string> =>
  join(await folderOfPrograms(), name, `edgeset-${name}.mjs`);

let onPath: Promise<string> | undefined;

/** A folder with the command line as it is shipped, under the names that npm puts on the PATH. */
export const shippedCommands = (): Promise<string> => {
  onPath ??= folderOfPrograms().then((programs) => {
    const folder = temporary();
    for (const name of ['edgeset', 'kubectl-edgeset', 'kubectl_complete-edgeset'])
      symlinkSync(join(programs, 'cli', `${name}.mjs`), join(folder, name));
    return folder;
  });
  return onPath;
};

/** `kubectl edgeset` as it is shipped, each command line in its own process. */
export const shippedPlugin: Plugin = {
  folder: shippedCommands,
  async run(args) {
    const program = join(await shippedCommands(), 'kubectl-edgeset');
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, HOME: '/nonexistent' };
    return new Promise((resolve) => {
      execFile(process.execPath, [program, ...args], { env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
      );
    });
  },
};
