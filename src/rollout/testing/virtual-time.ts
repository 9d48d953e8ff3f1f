interface Entry {
  at: number;
  order: number;
  run: () => void;
}

const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** Time that passes by running what was scheduled, in order of time; equal times in the order of scheduling. */
export const createVirtualTime = (start: number) => {
  const heap: Entry[] = [];
  let now = start;
  let order = 0;

  const push = (entry: Entry): void => {
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (!above || before(above, entry)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  };

  const pop = (): Entry | undefined => {
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = index * 2 + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left && right && before(right, left)) child += 1;
      const smaller = heap[child];
      if (!smaller || before(last, smaller)) break;
      heap[index] = smaller;
      index = child;
    }
    heap[index] = last;
    return first;
  };

  return {
    now: (): number => now,
    after(delayMs: number, run: () => void): void {
      order += 1;
      push({ at: now + Math.max(0, delayMs), order, run });
    },
    /** Runs everything up to `end`, and stands there. */
    runUntil(end: number): void {
      while (heap[0] && heap[0].at <= end) {
        const entry = pop();
        if (!entry) break;
        now = entry.at;
        entry.run();
      }
      now = Math.max(now, end);
    },
  };
};
export type VirtualTime = ReturnType<typeof createVirtualTime>;
