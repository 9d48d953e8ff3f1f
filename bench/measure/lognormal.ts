/**
 * Samples of a lognormal distribution with this mean. `sigma` is the deviation of the logarithm: 0.2 puts nine of ten
 * samples between 0.7 and 1.4 times the median.
 */
export const lognormal = (random: () => number, mean: number, sigma: number): (() => number) => {
  const median = mean * Math.exp(-(sigma ** 2) / 2);
  return () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return median * Math.exp(sigma * normal);
  };
};
