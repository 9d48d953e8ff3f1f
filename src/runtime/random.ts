/** Numbers in [0, 1) that follow from `seed` alone: the same seed gives the same sequence. */
export const createRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  // A 32-bit Weyl sequence through the finalizer of MurmurHash3. Kept plans and seeds depend on this sequence.
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
};
