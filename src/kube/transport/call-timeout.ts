import type { Clock } from '../../runtime/index.ts';

/** Aborts its own signal when the outer one aborts or the time is up, and tells which it was. */
export interface CallTimeout {
  readonly signal: AbortSignal;
  readonly expired: boolean;
  /** Milliseconds left; Infinity without a time limit. */
  remainingMs(): number;
  /** Aborts now, for a reason of the owner's own. */
  abort(reason: Error): void;
  /** Lets go of timer and listener. */
  release(): void;
}

export const startCallTimeout = (
  clock: Clock,
  timeoutMs: number | undefined,
  outer: AbortSignal | undefined,
): CallTimeout => {
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
    remainingMs: () => endsAt - clock.now(),
    abort: (reason) => controller.abort(reason),
    release() {
      timer?.cancel();
      outer?.removeEventListener('abort', onOuter);
    },
  };
};
