/** What became of a slow start: how many calls were made, and the errors of those that failed. */
export interface SlowStart {
  done: number;
  errors: readonly unknown[];
}

/** A batch that takes no longer may be followed by one of twice its size, ms. */
const QUICK_MS = 1_000;
/** One that takes longer is followed by one of half its size, ms. */
const SLOW_MS = 4_000;

const sizeAfter = (size: number, tookMs: number): number => {
  if (tookMs <= QUICK_MS) return size * 2;
  return tookMs > SLOW_MS ? Math.ceil(size / 2) : size;
};

/**
 * Calls for the items in batches of 1, 2, 4 and so on, the calls of a batch at the same time; an API server that needs
 * long for them gets no larger ones. A batch with a failure is the last: what is refused for every pod, as by a quota,
 * costs one call and not thousands. `now`: epoch ms.
 */
export const slowStart = async <T>(
  items: readonly T[],
  now: () => number,
  call: (item: T) => Promise<void>,
): Promise<SlowStart> => {
  let done = 0;
  for (let size = 1; done < items.length; ) {
    const begunAt = now();
    const batch = items.slice(done, done + size);
    const outcomes = await Promise.allSettled(batch.map(call));
    done += batch.length;
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    if (errors.length > 0) return { done, errors };
    size = sizeAfter(size, now() - begunAt);
  }
  return { done, errors: [] };
};
