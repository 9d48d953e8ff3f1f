/** The result of a slow start: the number of calls made, and the errors of those that failed. */
export interface SlowStart {
  done: number;
  errors: readonly unknown[];
}

/** After a batch that takes no longer, the batch size doubles, ms. */
const FAST_MS = 1_000;
/** After a batch that takes longer, the batch size halves, ms. */
const SLOW_MS = 4_000;

const nextSize = (size: number, tookMs: number): number => {
  if (tookMs <= FAST_MS) return size * 2;
  return tookMs > SLOW_MS ? Math.ceil(size / 2) : size;
};

/**
 * Calls for the items in batches of 1, 2, 4 and so on, as the DaemonSet controller does; the batches stop growing while the
 * API server is slow. Stops after a batch with a failure: when every pod is refused, as by a quota, that costs one call
 * and not thousands. `now`: epoch ms.
 */
export const slowStart = async <T>(
  items: readonly T[],
  now: () => number,
  call: (item: T) => Promise<void>,
): Promise<SlowStart> => {
  let done = 0;
  for (let size = 1; done < items.length; ) {
    const startedAt = now();
    const batch = items.slice(done, done + size);
    const results = await Promise.allSettled(batch.map(call));
    done += batch.length;
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    if (errors.length > 0) return { done, errors };
    size = nextSize(size, now() - startedAt);
  }
  return { done, errors: [] };
};
