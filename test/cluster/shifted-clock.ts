// Imported by a manager before its program: the clock of its machine is ahead by EDGESET_TEST_CLOCK_AHEAD_MS.

const aheadMs = Number(process.env.EDGESET_TEST_CLOCK_AHEAD_MS);
const { now } = Date;
Date.now = () => now() + aheadMs;
// Where the steady clock begins.
Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + aheadMs });
