/** How often pods have ended on a node, and when one was replaced last, epoch ms. */
export interface Endings {
  times: number;
  at: number;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 15 * 60_000;

/** A pod that ends as soon as it starts is replaced ever more slowly: after 1 s, doubling to 15 min. */
export const waitAfter = ({ times }: Endings): number => Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, times - 1));

/** The endings of a node with one more at `now`; a node that has been well for twice the longest wait begins anew. */
export const oneMore = (before: Endings | undefined, now: number): Endings =>
  before && now - before.at < 2 * LONGEST_MS ? { times: before.times + 1, at: now } : { times: 1, at: now };

/** When the next pod that ended on the node may be replaced, epoch ms. */
export const mayReplaceAt = (before: Endings | undefined, now: number): number =>
  before && now - before.at < 2 * LONGEST_MS ? before.at + waitAfter(before) : now;
