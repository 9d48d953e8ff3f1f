import { createRandom } from '../../src/runtime/index.ts';

/** Draws from a seeded sequence: the same seed gives the same draws. */
export interface Generator {
  /** A number in [0, 1). */
  next: () => number;
  /** True with this probability. */
  happens: (probability: number) => boolean;
  /** A whole number from `least` to `most`, both included. */
  between: (least: number, most: number) => number;
  /** One of the items, each with the same probability. Throws when there are none. */
  oneOf: <T>(items: readonly T[]) => T;
}

export const createGenerator = (seed: number): Generator => {
  const next = createRandom(seed);
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    happens: (probability) => next() < probability,
    between,
    oneOf: (items) => {
      if (items.length === 0) throw new Error('no items to choose from');
      return items[between(0, items.length - 1)] as (typeof items)[number];
    },
  };
};
