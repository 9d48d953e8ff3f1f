import { createVirtualClock, nextTurn, type VirtualClock } from '../../src/runtime/index.ts';
import { threadCpuMs } from '../measure/machine.ts';

const LONGEST_MS = 86_400_000;

/** A virtual clock on which work may take time. */
export interface WorkingClock extends Omit<VirtualClock, 'pending'> {
  /**
   * Lets time pass until `done` as on a machine that does nothing else: work takes the CPU time of this thread, and waiting takes
   * none of it.
   */
  work(done: () => boolean): Promise<void>;
}

export const createWorkingClock = (startMs: number): WorkingClock => {
  const virtual = createVirtualClock(startMs);
  /** Timers that became due during work are late: by the time on the virtual clock they are not. */
  let worked = startMs;
  const now = (): number => Math.max(worked, virtual.now());
  return {
    ...virtual,
    now,
    timer: (delayMs, fire) => virtual.timer(now() - virtual.now() + Math.max(0, delayMs), fire),
    async work(done) {
      const used = (): number => Math.floor(threadCpuMs());
      let before = used();
      for (;;) {
        await nextTurn();
        const after = used();
        const spent = Math.max(0, after - before);
        before = after;
        worked = virtual.now() + spent;
        virtual.run(spent);
        await nextTurn();
        if (done()) return;
        if (virtual.pending === 0) throw new Error('what is waited for on the virtual clock never happens');
        let fired = 0;
        virtual.runUntil(() => fired++ > 0, LONGEST_MS);
      }
    },
  };
};
