import { createVirtualClock, nextTurn, type VirtualClock } from '../../src/runtime/index.ts';

/** Enough turns of the event loop for every promise chain that needs neither a timer nor I/O. */
const SETTLE_TURNS = 8;

/** Runs everything that needs neither a timer nor I/O. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < SETTLE_TURNS; turn += 1) await nextTurn();
};

export interface TestClock extends VirtualClock {
  /** Sets the time as an administrator or NTP does: pending timers keep their remaining delay. */
  jump(ms: number): void;
}

/** The virtual clock for tests that await: `advance` lets promise chains finish before each timer. */
export const createTestClock = (startMs = Date.parse('2026-01-01T00:00:00Z')): TestClock => {
  const clock = createVirtualClock(startMs, { turns: SETTLE_TURNS });
  let offset = 0;
  return {
    ...clock,
    now: () => clock.now() + offset,
    get pending() {
      return clock.pending;
    },
    jump(ms) {
      offset += ms;
    },
  };
};
