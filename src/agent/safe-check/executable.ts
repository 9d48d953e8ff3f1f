import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import type { Env } from '../../runtime/index.ts';
import { errnoOf } from './errno.ts';
import { firstLine, OUTPUT_LIMIT } from './output.ts';
import type { SafeAnswer } from './types.ts';

const mayBeWrittenByOthers = ({ mode, uid, gid }: Stats): boolean =>
  (mode & constants.S_IWOTH) !== 0 ||
  ((mode & constants.S_IWGRP) !== 0 && gid !== 0) ||
  (uid !== 0 && uid !== process.geteuid?.());

/** A sticky directory such as /tmp lets others add files, and not replace ours. */
const mayBeReplaced = (directory: Stats): boolean => mayBeWrittenByOthers(directory) && (directory.mode & 0o1000) === 0;

/** Why this file cannot be asked, with the cure. Whoever can write it could say go ahead, and run as this process. */
export const executableProblem = (file: string): string | undefined => {
  if (!path.isAbsolute(file)) return 'must be an absolute path or an http(s) URL';
  let real: string;
  try {
    real = realpathSync(file);
  } catch (error) {
    return `cannot be read (${errnoOf(error)}): check the path`;
  }
  const found = statSync(real);
  if (!found.isFile()) return 'is not a file: name the executable itself';
  try {
    accessSync(real, constants.X_OK);
  } catch {
    return 'is not executable: run chmod +x on it';
  }
  if (mayBeWrittenByOthers(found)) return 'may be written by other users: chown it to root and run chmod go-w on it';
  for (let dir = path.dirname(real); ; dir = path.dirname(dir)) {
    if (mayBeReplaced(statSync(dir)))
      return `may be replaced by other users: chown ${dir} to root and run chmod go-w on it`;
    if (dir === path.dirname(dir)) return undefined;
  }
};

/** Ends it and all that it has started; it was made the leader of a group of its own. */
const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nothing of the group is left.
  }
};

export interface RunOptions {
  env: Env;
  timeoutMs: number;
  signal: AbortSignal;
  /** All that it finds in its environment, beside a plain PATH. */
  variables: Readonly<Record<string, string>>;
}

/** Runs the file without a shell. Exit status 0 within the deadline is safe, and nothing else. */
export const runExecutable = async (file: string, options: RunOptions): Promise<SafeAnswer> => {
  const { env, timeoutMs, signal, variables } = options;
  const problem = executableProblem(file);
  if (problem !== undefined) return { safe: false, message: `The check ${file} ${problem}` };
  const { spawn } = await import('node:child_process');
  if (signal.aborted) return { safe: false, message: 'The agent stops.' };
  return new Promise((resolve) => {
    const child = spawn(file, [], {
      cwd: '/',
      detached: true,
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...variables },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = Buffer.alloc(0);
    let exited: SafeAnswer | undefined;
    const finish = (answer: SafeAnswer): void => {
      timer.cancel();
      signal.removeEventListener('abort', stop);
      if (!exited) killGroup(child);
      child.stdout.destroy();
      resolve(answer);
    };
    const stop = (): void => finish({ safe: false, message: 'The agent stops.' });
    const timer = env.clock.timer(timeoutMs, () =>
      finish(exited ?? { safe: false, message: `The check gave no answer within ${timeoutMs / 1000} s.` }),
    );
    signal.addEventListener('abort', stop, { once: true });
    child.stdout.on('data', (data: Buffer) => {
      if (output.length < OUTPUT_LIMIT) output = Buffer.concat([output, data]).subarray(0, OUTPUT_LIMIT);
    });
    child.on('error', (error) => finish({ safe: false, message: `The check cannot be run (${errnoOf(error)}).` }));
    child.on('exit', (code, killedBy) => {
      exited = { safe: code === 0, message: killedBy === null ? `Exit status ${code}.` : `Ended by ${killedBy}.` };
      // What it left behind would keep its output open.
      killGroup(child);
    });
    child.on('close', () => {
      const said = firstLine(output);
      const answer = exited ?? { safe: false, message: 'The check ended in a way that is not known.' };
      finish(said === '' ? answer : { safe: answer.safe, message: said });
    });
  });
};
