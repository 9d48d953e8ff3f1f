import { createVirtualClock, nextTurn, type VirtualClock } from '../../src/runtime/index.ts';
import { threadCpuMs } from '../measure/machine.ts';

const LONGEST_MS = 86_400_000;

/** A virtual clock on which work may take time. */
export interface WorkingClock extends Omit<VirtualClock, 'pending'> {
  /**
   * Lets time pass until `done` as on a machine that does nothing else: work takes the CPU time of this thread, and waiting takes
   * none of it. Rejects when that does not happen within `limitMs` of this clock. Default: a day.
   */
  work(done: () => boolean, limitMs?: number): Promise<void>;
  /** Does what another machine would do: it takes no time. May be nested. */
  free<T>(work: () => T): T;
}

export const createWorkingClock = (startMs: number): WorkingClock => {
  const virtual = createVirtualClock(startMs);
  /** Timers that became due during work are late: by the time on the virtual clock they are not. */
  let worked = startMs;
  /** Outside of `work`, nothing is measured: reading the CPU time takes some itself. */
  let working = false;
  let freeMs = 0;
  const now = (): number => Math.max(worked, virtual.now());
  const counted = (): number => threadCpuMs() - freeMs;
  const letPass = async (done: () => boolean, limitMs: number): Promise<void> => {
    const end = now() + limitMs;
    let before = Math.floor(counted());
    for (;;) {
      await nextTurn();
      const after = Math.floor(counted());
      const spent = Math.max(0, after - before);
      before = after;
      worked = virtual.now() + spent;
      virtual.run(spent);
      await nextTurn();
      if (done()) return;
      if (virtual.pending === 0) throw new Error('what is waited for on the virtual clock never happens');
      if (now() > end) throw new Error(`what is waited for on the virtual clock does not happen within ${limitMs} ms`);
      let fired = 0;
      virtual.runUntil(() => fired++ > 0, end + 1 - virtual.now());
    }
  };
  return {
    ...virtual,
    now,
    timer: (delayMs, fire) => virtual.timer(now() - virtual.now() + Math.max(0, delayMs), fire),
    async work(done, limitMs = LONGEST_MS) {
      working = true;
      try {
        await letPass(done, limitMs);
      } finally {
        working = false;
      }
    },
    free(work) {
      if (!working) return work();
      const before = counted();
      try {
        return work();
      } finally {
        freeMs += counted() - before;
      }
    },
  };
};
