import type { Clock } from '../../runtime/index.ts';

/** The time limit of one call: its signal aborts when the caller's does or when the time is up. */
export interface CallTimeout {
  readonly signal: AbortSignal;
  /** The time is up. */
  readonly expired: boolean;
  remainingMs(): number;
  /** Aborts now. */
  abort(reason: Error): void;
  /** Cancels the timer and removes the listener. */
  release(): void;
}

export const startCallTimeout = (clock: Clock, timeoutMs: number, outer: AbortSignal | undefined): CallTimeout => {
  const controller = new AbortController();
  let expired = false;
  const endsAt = clock.now() + timeoutMs;
  const onOuter = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) onOuter();
  else outer?.addEventListener('abort', onOuter, { once: true });
  const timer = clock.timer(timeoutMs, () => {
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
      timer.cancel();
      outer?.removeEventListener('abort', onOuter);
    },
  };
};
