import { type ExecFileOptions, execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const root = path.join(import.meta.dirname, '..', '..');

/** The real path of a program on the PATH. */
const find = (name: string): string => {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter))
    if (existsSync(path.join(folder, name))) return realpathSync(path.join(folder, name));
  throw new Error(`${name} is not on the PATH: install it`);
};

const npm = (...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stderr}`);
  return stdout;
};

/** Makes the package, as for publishing, and returns the path of the file. */
export const pack = (folder: string): string => {
  const [{ filename } = { filename: '' }] = JSON.parse(npm('pack', '--json', '--pack-destination', folder)) as {
    filename: string;
  }[];
  return path.join(folder, filename);
};

/** The programs of Node on which the package must run, by major version. They are installed once for all checkouts. */
export const supportedNodes = (): ReadonlyMap<string, string> => {
  const own = new Map([[process.versions.node.split('.')[0] ?? '', process.execPath]]);
  // The packages of test/package/nodes are for this platform only.
  if (process.platform !== 'linux' || process.arch !== 'x64') return own;
  const source = path.join(import.meta.dirname, 'nodes');
  const lock = createHash('sha256').update(readFileSync(path.join(source, 'package-lock.json')));
  const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
  const folder = path.join(cache, 'edgeset', `nodes-${lock.digest('hex').slice(0, 16)}`);
  // npm writes this file last.
  if (!existsSync(path.join(folder, 'node_modules/.package-lock.json'))) {
    cpSync(source, folder, { recursive: true });
    npm('ci', '--prefix', folder, '--no-audit', '--no-fund');
  }
  const others = ['22', '24'].map(
    (major) => [major, path.join(folder, `node_modules/node-${major}/bin/node`)] as const,
  );
  return new Map([...others, ...own]);
};

export interface Machine {
  /** An empty folder, which is also the home of the user. */
  folder: string;
  environment: Record<string, string>;
  /** Runs a program or a script of bash, which must succeed, and resolves with what it printed. */
  run(command: string, options?: ExecFileOptions): Promise<{ stdout: string; stderr: string }>;
}

/** A machine with this Node, npm and kubectl, and with nothing of the checkout. */
export const createMachine = (folder: string, node: string): Machine => {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const [name, file] of [
    ['node', node],
    ...['npm', 'npx', 'kubectl'].map((each) => [each, find(each)] as const),
  ] as const)
    symlinkSync(file, path.join(bin, name));
  const environment = {
    HOME: folder,
    npm_config_prefix: path.join(folder, 'global'),
    npm_config_cache: path.join(folder, 'npm-cache'),
    npm_config_update_notifier: 'false',
    PATH: [bin, path.join(folder, 'global', 'bin'), '/usr/bin', '/bin'].join(path.delimiter),
    KUBECONFIG: path.join(folder, 'kubeconfig'),
  };
  return {
    folder,
    environment,
    async run(command, options) {
      const { stdout, stderr } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', command], {
        cwd: folder,
        env: environment,
        ...options,
      });
      return { stdout: stdout.toString(), stderr: stderr.toString() };
    },
  };
};
