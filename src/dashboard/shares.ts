export interface Bounds {
  most: number;
  mostOfOne: number;
}

/** What holders keep at the same time, in the order of its last use. */
export interface Shares<T> {
  readonly size: number;
  /** How much this holder keeps. */
  of(holder: string): number;
  /** It was used last, and is kept from now on. */
  use(holder: string, item: T): void;
  drop(holder: string, item: T): void;
  /**
   * What gives way to one more of this holder, undefined while there is room: what they have not used for longest when their
   * own share is used up; otherwise what the holder with most has not used for longest. So nobody can use up what others need.
   */
  victim(holder: string): { holder: string; item: T } | undefined;
}

/** `isBusy`: what is busy gives way only if all of its holder's is. */
export const createShares = <T>({ most, mostOfOne }: Bounds, isBusy: (item: T) => boolean = () => false): Shares<T> => {
  const held = new Map<string, Set<T>>();
  let size = 0;
  const drop = (holder: string, item: T): void => {
    const own = held.get(holder);
    if (!own?.delete(item)) return;
    size -= 1;
    if (own.size === 0) held.delete(holder);
  };
  return {
    get size() {
      return size;
    },
    of: (holder) => held.get(holder)?.size ?? 0,
    use(holder, item) {
      drop(holder, item);
      const own = (held.get(holder) ?? new Set()).add(item);
      held.delete(holder);
      held.set(holder, own);
      size += 1;
    },
    drop,
    victim(holder) {
      let [from, own] = [holder, held.get(holder) ?? new Set<T>()];
      if (own.size < mostOfOne) {
        if (size < most) return undefined;
        for (const [other, theirs] of held) if (theirs.size > own.size) [from, own] = [other, theirs];
      }
      const [oldest] = own;
      const item = own.values().find((one) => !isBusy(one)) ?? oldest;
      return item === undefined ? undefined : { holder: from, item };
    },
  };
};
