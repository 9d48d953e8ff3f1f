import { spawn } from 'node:child_process';

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

/** A bash that ends with the first command that fails, as nobody would go on then. */
export const openShell = ({ cwd, env }: ShellOptions): Shell => {
  const child = spawn('bash', ['--noprofile', '--norc'], { cwd, env: { ...env }, detached: true });
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
