/** Who needed longer from one write to the next was asleep: others may have been at work on the same meanwhile. */
export const ASLEEP_MS = 10_000;

/** Tells whether a run of writes has stood still for so long. `now`: epoch ms. */
export const createStandstill = (now: () => number) => {
  let lastAt = now();
  let stood = false;
  return {
    /** A write begins or has ended. Returns whether the run has stood still until here, once or now. */
    step(): boolean {
      stood ||= now() - lastAt > ASLEEP_MS;
      lastAt = now();
      return stood;
    },
  };
};
export type Standstill = ReturnType<typeof createStandstill>;
