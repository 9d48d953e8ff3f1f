import { type Clock, sleep } from '../runtime/index.ts';

export interface AirOptions {
  clock: Clock;
  /** So many at once: a hold that appears stops all others before they are sent. */
  most: number;
  /** Called when one ended, however: time to decide again. */
  ended: () => void;
  /** One rejected, which is a defect: what may come of a write is an outcome. */
  failed: (key: string, error: unknown) => void;
}

/** The writes of one DaemonSet that are under way: one for a key, few at once, and none once we lead no more. */
export const createAir = ({ clock, most, ended, failed }: AirOptions) => {
  const inAir = new Map<string, Promise<void>>();
  let term = new AbortController();

  return {
    has: (key: string): boolean => inAir.has(key),
    isFull: (): boolean => inAir.size >= most,
    /** Begins a write unless one for this key is under way already, or too many are. */
    launch(key: string, write: (signal: AbortSignal) => Promise<void>): void {
      if (inAir.has(key) || inAir.size >= most) return;
      const running = write(term.signal)
        .catch((error: unknown) => failed(key, error))
        .finally(() => {
          inAir.delete(key);
          ended();
        });
      inAir.set(key, running);
    },
    /**
     * Lets what is in the air end, and after `graceMs` gives up waiting for its answers: what is not sent by then never
     * is. Resolves when nothing is in the air.
     */
    async stop(graceMs: number): Promise<void> {
      const ending = term;
      term = new AbortController();
      const done = new AbortController();
      const giveUp = (): void => ending.abort(new Error('the controller writes no more'));
      if (graceMs <= 0) giveUp();
      else if (inAir.size > 0) sleep(clock, graceMs, done.signal).then(giveUp, () => undefined);
      while (inAir.size > 0) await Promise.all(inAir.values());
      done.abort();
    },
  };
};
export type Air = ReturnType<typeof createAir>;
