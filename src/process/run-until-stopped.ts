import { constants } from 'node:os';
import { type Env, OptionError } from '../runtime/index.ts';

/** The part of `process` that decides over its life; `process` itself fits. */
export interface HostProcess {
  on(event: string, handler: (value: unknown) => void): unknown;
  off(event: string, handler: (value: unknown) => void): unknown;
  exit(code: number): void;
}

/** Kubernetes' own grace period is 30 s: at its end SIGKILL would leave no line in the log. */
const GRACE_MS = 28_000;

/**
 * undici destroys HTTP/2 streams that it tracks no more together with their client, and none of them has a listener then:
 * by the end that we asked for, no request is left that this could be news of.
 */
const isOurOwnEnd = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'UND_ERR_DESTROYED';

/**
 * Runs `work` until it ends or SIGTERM or SIGINT asks it to by aborting its signal. Resolves with the exit code: 0 when
 * it resolved, 1 when it rejected (logged); rejects with an `OptionError` of `work`, which names a flag. A second signal ends the process at once, a stop that takes longer than
 * 28 s and an error that nobody handles end it with code 1.
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
      log.warn('stopping at once on the second signal', { signal: name });
      host.exit(128 + constants.signals[name]);
      return;
    }
    log.info('stopping', { signal: name, withinMs: GRACE_MS });
    deadline = clock.timer(GRACE_MS, () => {
      log.error('not stopped in time: ending the process', { afterMs: GRACE_MS });
      host.exit(1);
    });
    stop.abort();
  };
  const onLost = (what: string) => (error: unknown) => {
    if (stop.signal.aborted && isOurOwnEnd(error)) {
      log.debug('a stream was still there when its client was closed', { error });
      return;
    }
    log.error(what, { error, ...(error instanceof Error ? { stack: error.stack } : {}) });
    host.exit(1);
  };
  const handlers: Record<string, (value: unknown) => void> = {
    SIGTERM: onStop('SIGTERM'),
    SIGINT: onStop('SIGINT'),
    unhandledRejection: onLost('a rejection was not handled: this is a defect'),
    uncaughtException: onLost('an exception was not caught: this is a defect'),
  };
  for (const [event, handler] of Object.entries(handlers)) host.on(event, handler);
  try {
    await work(stop.signal);
    log.info('stopped');
    return 0;
  } catch (error) {
    // For the one who typed the flag, in the words of the command line.
    if (error instanceof OptionError) throw error;
    log.error('failed', { error });
    return 1;
  } finally {
    deadline?.cancel();
    for (const [event, handler] of Object.entries(handlers)) host.off(event, handler);
  }
};
