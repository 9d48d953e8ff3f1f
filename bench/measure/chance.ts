/** Repeatable chance: the same seed gives the same numbers in [0, 1). */
export const createChance = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
};

/**
 * Samples of a lognormal distribution with this mean. `sigma` is the deviation of the logarithm: 0.2 puts nine of ten
 * samples between 0.7 and 1.4 times the median.
 */
export const lognormal = (chance: () => number, mean: number, sigma: number): (() => number) => {
  const median = mean * Math.exp(-(sigma ** 2) / 2);
  return () => {
    const normal = Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
    return median * Math.exp(sigma * normal);
  };
};
