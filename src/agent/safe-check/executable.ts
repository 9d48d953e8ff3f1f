import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import type { Env } from '../../runtime/index.ts';
import { errnoOf } from '../errno.ts';
import { firstLine, OUTPUT_LIMIT, type SafeAnswer, STOPPING, timedOut } from './answer.ts';

const isWritableByOthers = ({ mode, uid, gid }: Stats): boolean =>
  (mode & constants.S_IWOTH) !== 0 ||
  ((mode & constants.S_IWGRP) !== 0 && gid !== 0) ||
  (uid !== 0 && uid !== process.geteuid?.());

/** In a sticky directory such as /tmp, others can add files but can't replace ours. */
const isReplaceableIn = (directory: Stats): boolean => isWritableByOthers(directory) && (directory.mode & 0o1000) === 0;

/**
 * Why the file can't be the check, and how to fix that. A user who can write the file could approve updates and run code as
 * the agent.
 */
export const executableProblem = (file: string): string | undefined => {
  if (!path.isAbsolute(file)) return 'must be an absolute path or an http(s) URL';
  let real: string;
  try {
    real = realpathSync(file);
  } catch (error) {
    return `cannot be read (${errnoOf(error) ?? 'unknown error'}): check the path`;
  }
  const found = statSync(real);
  if (!found.isFile()) return 'is not a file: name the executable itself';
  try {
    accessSync(real, constants.X_OK);
  } catch {
    return 'is not executable: run chmod +x on it';
  }
  if (isWritableByOthers(found)) return 'is writable by other users: chown it to root and run chmod go-w on it';
  for (let dir = path.dirname(real); ; dir = path.dirname(dir)) {
    if (isReplaceableIn(statSync(dir)))
      return `can be replaced by other users: chown ${dir} to root and run chmod go-w on it`;
    if (dir === path.dirname(dir)) return undefined;
  }
};

/** Kills the child and everything it started: the child leads its own process group. */
const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is already gone.
  }
};

export interface RunOptions {
  env: Env;
  timeoutMs: number;
  signal: AbortSignal;
  /** The child's environment, in addition to a plain PATH. */
  variables: Readonly<Record<string, string>>;
}

/** Runs the file without a shell. Only exit status 0 within the timeout means safe. */
export const runExecutable = async (file: string, options: RunOptions): Promise<SafeAnswer> => {
  const { env, timeoutMs, signal, variables } = options;
  const problem = executableProblem(file);
  if (problem !== undefined) return { safe: false, message: `The check ${file} ${problem}` };
  const { spawn } = await import('node:child_process');
  if (signal.aborted) return STOPPING;
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
    const stop = (): void => finish(STOPPING);
    const timer = env.clock.timer(timeoutMs, () => finish(exited ?? timedOut(timeoutMs)));
    signal.addEventListener('abort', stop, { once: true });
    child.stdout.on('data', (data: Buffer) => {
      if (output.length < OUTPUT_LIMIT) output = Buffer.concat([output, data]).subarray(0, OUTPUT_LIMIT);
    });
    child.on('error', (error) =>
      finish({ safe: false, message: `The check cannot be run (${errnoOf(error) ?? 'unknown error'}).` }),
    );
    child.on('exit', (code, killedBy) => {
      exited = { safe: code === 0, message: killedBy === null ? `Exit status ${code}.` : `Killed by ${killedBy}.` };
      // Processes that it left behind would keep its output open.
      killGroup(child);
    });
    child.on('close', () => {
      const said = firstLine(output);
      const answer = exited ?? { safe: false, message: 'The check ended without an exit status.' };
      finish(said === '' ? answer : { safe: answer.safe, message: said });
    });
  });
};
