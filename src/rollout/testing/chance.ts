/** A repeatable source of chance: the same seed gives the same numbers. */
export interface Chance {
  /** A number from 0 up to, but not including, 1. */
  next(): number;
  /** True in `share` of all cases. */
  happens(share: number): boolean;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
}

export const createChance = (seed: number): Chance => {
  let state = seed >>> 0;
  // A 32-bit Weyl sequence through an integer mixer: short, fast, and good enough to spread delays and faults.
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    happens: (share) => next() < share,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
  };
};
