import type { Clock, Timer } from '../runtime/index.ts';

/** The same clock, whose timers can all be ended at once. */
export const createScopedClock = (clock: Clock): { clock: Clock; end(): void } => {
  const open = new Set<Timer>();
  let ended = false;
  return {
    clock: {
      now: () => clock.now(),
      timer(delayMs, fire) {
        if (ended) return { cancel: () => undefined };
        const inner = clock.timer(delayMs, () => {
          open.delete(timer);
          fire();
        });
        const timer: Timer = {
          cancel() {
            open.delete(timer);
            inner.cancel();
          },
        };
        open.add(timer);
        return timer;
      },
    },
    end() {
      ended = true;
      for (const timer of open) timer.cancel();
    },
  };
};
