import type { Clock } from '../runtime/index.ts';

/** Aborts its own signal when the outer one aborts or the time is up, and tells which it was. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly expired: boolean;
  /** Milliseconds left; Infinity without a time limit. */
  leftMs(): number;
  /** Aborts now, for a reason of the owner's own. */
  cut(reason: Error): void;
  /** Lets go of timer and listener. */
  end(): void;
}

export const startDeadline = (
  clock: Clock,
  timeoutMs: number | undefined,
  outer: AbortSignal | undefined,
): Deadline => {
  const controller = new AbortController();
  let expired = false;
  const endsAt = timeoutMs === undefined ? Infinity : clock.now() + timeoutMs;
  const onOuter = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) onOuter();
  else outer?.addEventListener('abort', onOuter, { once: true });
  const timer =
    timeoutMs === undefined
      ? undefined
      : clock.timer(timeoutMs, () => {
          if (controller.signal.aborted) return;
          expired = true;
          controller.abort(new Error(`no complete answer within ${timeoutMs} ms`));
        });
  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    leftMs: () => endsAt - clock.now(),
    cut: (reason) => controller.abort(reason),
    end() {
      timer?.cancel();
      outer?.removeEventListener('abort', onOuter);
    },
  };
};

/** `work`, or a rejection with the signal's reason as soon as it aborts; the work itself goes on. */
export const withSignal = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
};
