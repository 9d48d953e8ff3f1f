/** What became of a slow start: how many calls were made, and the errors of those that failed. */
export interface SlowStart {
  done: number;
  errors: readonly unknown[];
}

/**
 * Calls for the items in batches of 1, 2, 4 and so on, the calls of a batch at the same time. A batch with a failure is
 * the last: what is refused for every pod, as by a quota, costs one call and not thousands.
 */
export const slowStart = async <T>(items: readonly T[], call: (item: T) => Promise<void>): Promise<SlowStart> => {
  let done = 0;
  for (let size = 1; done < items.length; size *= 2) {
    const batch = items.slice(done, done + size);
    const outcomes = await Promise.allSettled(batch.map(call));
    done += batch.length;
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    if (errors.length > 0) return { done, errors };
  }
  return { done, errors: [] };
};
