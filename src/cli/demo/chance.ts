/** Uniform numbers in [0, 1) that follow from `seed` alone (mulberry32). */
export const createChance = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** `count` of `items`, in their order. */
export const pick = <T>(items: readonly T[], count: number, random: () => number): T[] => {
  const left = items.map((_, index) => index);
  const chosen = new Set<number>();
  while (chosen.size < Math.min(count, items.length)) {
    const [index] = left.splice(Math.floor(random() * left.length), 1);
    if (index !== undefined) chosen.add(index);
  }
  return items.filter((_, index) => chosen.has(index));
};
