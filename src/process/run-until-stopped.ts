import { constants } from 'node:os';
import { type Env, OptionError } from '../runtime/index.ts';

/** The subset of `process` that starts and stops the program. */
export interface HostProcess {
  on(event: string, handler: (value: unknown) => void): unknown;
  off(event: string, handler: (value: unknown) => void): unknown;
  exit(code: number): void;
}

/** The process that runs a program of ours. */
export interface ProgramHost {
  /** Product version, for the User-Agent and metrics. */
  version: string;
  stderr: (text: string) => void;
  /** stderr is a terminal. */
  terminal: boolean;
  environment: Readonly<Record<string, string | undefined>>;
  /** Uniform in [0, 1). */
  random: () => number;
  process: HostProcess;
}

/** Just below Kubernetes' default grace period of 30 s, whose SIGKILL would leave nothing in the log. */
const GRACE_MS = 28_000;

/**
 * Runs `work` until it ends; SIGTERM and SIGINT abort its signal. Resolves with the exit code: 0 when the work resolved,
 * 1 when it rejected (logged). Rejects with an `OptionError` of the work, which is for the command line. A second signal
 * exits at once; a shutdown of more than 28 s and unhandled errors exit with code 1.
 */
export const runUntilStopped = async (
  { clock, log }: Env,
  host: HostProcess,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<0 | 1> => {
  const stop = new AbortController();
  let deadline: { cancel(): void } | undefined;
  const onStop = (name: 'SIGTERM' | 'SIGINT') => (): void => {
    if (stop.signal.aborted) {
      log.warn('exiting immediately on the second signal', { signal: name });
      host.exit(128 + constants.signals[name]);
      return;
    }
    log.info('stopping', { signal: name, withinMs: GRACE_MS });
    deadline = clock.timer(GRACE_MS, () => {
      log.error('shutdown timed out; exiting', { afterMs: GRACE_MS });
      host.exit(1);
    });
    stop.abort();
  };
  const onUnhandled = (what: string) => (error: unknown) => {
    log.error(what, { error, ...(error instanceof Error ? { stack: error.stack } : {}) });
    host.exit(1);
  };
  const handlers: Record<string, (value: unknown) => void> = {
    SIGTERM: onStop('SIGTERM'),
    SIGINT: onStop('SIGINT'),
    unhandledRejection: onUnhandled('unhandled rejection: this is a bug'),
    uncaughtException: onUnhandled('uncaught exception: this is a bug'),
  };
  for (const [event, handler] of Object.entries(handlers)) host.on(event, handler);
  try {
    await work(stop.signal);
    log.info('stopped');
    return 0;
  } catch (error) {
    // The command line reports it.
    if (error instanceof OptionError) throw error;
    log.error('failed', { error });
    return 1;
  } finally {
    deadline?.cancel();
    for (const [event, handler] of Object.entries(handlers)) host.off(event, handler);
  }
};
