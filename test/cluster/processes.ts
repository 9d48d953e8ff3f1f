import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, settledWithin } from '../support/index.ts';

export interface ProgramSpec {
  name: string;
  file: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
}

export interface Program {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Undefined while it runs; a signal's name when it was ended by one. */
  readonly ended: number | NodeJS.Signals | undefined;
  /** Settles with the exit code or signal; never rejects. */
  readonly exit: Promise<number | NodeJS.Signals>;
  kill(signal?: NodeJS.Signals): void;
  /** SIGSTOP: no thread of it runs from the return of this call until `resume`. Throws when it does not stop in time. */
  pause(): void;
  resume(): void;
  log(): Promise<string>;
  /** SIGTERM, after `graceMs` SIGKILL; settles when it has ended. */
  stop(graceMs?: number): Promise<void>;
}

export interface Processes {
  /** Starts a program whose output goes to `<dir>/<name>.log` (appended). */
  start(spec: ProgramSpec): Promise<Program>;
  /** Ends every program and removes the folder. */
  close(): Promise<void>;
}

const exitOf = (child: ChildProcess): Promise<number | NodeJS.Signals> =>
  new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code ?? 0));
  });

const STOP_TIMEOUT_MS = 10_000;
const neverWoken = new Int32Array(new SharedArrayBuffer(4));
/** Blocks this thread, so that nothing of ours runs meanwhile. */
const blockFor = (ms: number): void => void Atomics.wait(neverWoken, 0, 0, ms);

const stateOf = (file: string): string => {
  try {
    const stat = readFileSync(file, 'utf8');
    return stat.charAt(stat.lastIndexOf(')') + 2);
  } catch {
    return 'X';
  }
};
/** SIGSTOP is delivered to one thread; on a busy machine the other threads keep running until that one is scheduled. */
const isStopped = (pid: number): boolean => {
  const tasks = `/proc/${pid}/task`;
  try {
    return readdirSync(tasks).every((task) => 'TtZX'.includes(stateOf(`${tasks}/${task}/stat`)));
  } catch {
    // The process is gone, or this system has no /proc.
    return true;
  }
};

/**
 * Starts programs in `dir` that end with `close`, or with this process however it ends: a separate watchdog process keeps
 * their pids. Each runs in its own session, so that Ctrl-C reaches only this process, which then shuts them down.
 */
export const createProcesses = (dir: string): Processes => {
  const running = new Set<Program>();
  const watchdog = spawn(process.execPath, [join(import.meta.dirname, 'watchdog.ts'), dir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // A watchdog that was killed must not fail the tests.
  watchdog.stdin.on('error', () => undefined);
  watchdog.unref();
  const watchdogExit = exitOf(watchdog);

  return {
    async start({ name, file, args, env }) {
      const logFile = join(dir, `${name}.log`);
      const log = openSync(logFile, 'a');
      const child = spawn(file, args, {
        stdio: ['ignore', log, log],
        detached: true,
        env: env ?? process.env,
        cwd: dir,
      });
      closeSync(log);
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', reject);
      });
      const pid = child.pid ?? 0;
      watchdog.stdin.write(`+${pid}\n`);
      child.unref();
      let ended: number | NodeJS.Signals | undefined;
      const exit = exitOf(child).then((how) => {
        ended = how;
        running.delete(program);
        watchdog.stdin.write(`-${pid}\n`);
        return how;
      });
      const program: Program = {
        name,
        pid,
        logFile,
        exit,
        get ended() {
          return ended;
        },
        kill(signal = 'SIGKILL') {
          // A caller may wait for the exit: that must keep this process alive, the program itself must not.
          child.ref();
          child.kill(signal);
        },
        pause() {
          child.kill('SIGSTOP');
          const deadline = performance.now() + STOP_TIMEOUT_MS;
          while (ended === undefined && !isStopped(pid)) {
            if (performance.now() > deadline)
              throw new Error(`${name} (pid ${pid}) still runs ${STOP_TIMEOUT_MS} ms after SIGSTOP`);
            blockFor(1);
          }
        },
        resume: () => void child.kill('SIGCONT'),
        log: () => readFile(logFile, 'utf8'),
        async stop(graceMs = 5000) {
          if (ended !== undefined) return;
          program.kill('SIGTERM');
          program.resume();
          await settledWithin(exit, graceMs).catch(() => program.kill('SIGKILL'));
          await exit;
        },
      };
      running.add(program);
      return program;
    },

    async close() {
      for (const program of running) program.kill('SIGKILL');
      await Promise.all([...running].map((program) => program.exit));
      watchdog.ref();
      watchdog.stdin.end();
      await watchdogExit;
    },
  };
};

/** Waits until `ready`; fails immediately, with the end of the log, if the program ends meanwhile. */
export const untilReady = async (program: Program, ready: () => Promise<boolean>, timeoutMs: number): Promise<void> => {
  const tail = async (): Promise<string> => (await program.log()).split('\n').slice(-15).join('\n');
  let died = false;
  try {
    await eventually(
      `${program.name} is ready`,
      async () => {
        died = program.ended !== undefined;
        return died || (await ready());
      },
      { withinMs: timeoutMs, everyMs: 25 },
    );
  } catch (cause) {
    throw new Error(`${program.name} was not ready within ${timeoutMs} ms:\n${await tail()}`, { cause });
  }
  if (died) throw new Error(`${program.name} ended with ${program.ended}:\n${await tail()}`);
};
