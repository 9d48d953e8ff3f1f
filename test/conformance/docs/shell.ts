import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Applies an object that a page takes for granted. */
export const applyWith = async (kubeconfig: string, object: object): Promise<void> => {
  const applying = run('kubectl', ['--kubeconfig', kubeconfig, 'apply', '-f', '-']);
  applying.child.stdin?.end(JSON.stringify(object));
  await applying;
};

export interface ShellOptions {
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** One terminal: what a block sets, the blocks after it have. */
export interface Shell {
  /** Resolves with what the commands print; rejects with their words when one of them fails, or they do not end in time. */
  run(commands: string, withinMs: number): Promise<string>;
  close(): void;
}

/** A bash that ends with the first command that fails, as nobody would continue then. */
export const openShell = ({ cwd, env }: ShellOptions): Shell => {
  // The commands run from their sources; without the cache, each compiles them for half a second.
  const { NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn('bash', ['--noprofile', '--norc'], { cwd, env: { NODE_COMPILE_CACHE, ...env }, detached: true });
  let out = '';
  let error = '';
  let ended = false;
  let looked = (): void => undefined;
  const more = (): void => looked();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    more();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  child.stdin.on('error', () => undefined);
  child.on('close', () => {
    ended = true;
    more();
  });
  child.stdin.write('set -euo pipefail\n');
  let blocks = 0;
  const close = (): void => {
    if (ended || child.pid === undefined) return;
    // With whatever it runs.
    process.kill(-child.pid, 'SIGKILL');
  };
  return {
    run(commands, withinMs) {
      blocks += 1;
      const mark = `--- end of block ${blocks} ---\n`;
      out = '';
      error = '';
      child.stdin.write(`${commands}\nprintf '%s\\n' '${mark.trimEnd()}'\n`);
      return new Promise((resolve, reject) => {
        const fail = (why: string): void => reject(new Error(`${why}:\n${commands}\n${out}\n${error}`));
        const timer = setTimeout(() => {
          fail(`not done within ${withinMs} ms`);
          close();
        }, withinMs);
        looked = () => {
          if (!out.endsWith(mark) && !ended) return;
          clearTimeout(timer);
          looked = () => undefined;
          if (out.endsWith(mark)) resolve(out.slice(0, -mark.length));
          else fail('a command failed');
        };
        looked();
      });
    },
    close,
  };
};
