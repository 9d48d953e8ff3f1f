/** For those who may not know yet that it has changed, this many older values are kept. */
const MOST = 50;

/** What something is, and what it was before. */
export const createTimeline = <T>(first: T, isSame: (a: T, b: T) => boolean = () => false) => {
  let present = first;
  const past: { value: T; until: number }[] = [];
  return {
    note(value: T, at: number): void {
      if (isSame(present, value)) return;
      past.push({ value: present, until: at });
      if (past.length > MOST) past.shift();
      present = value;
    },
    get present(): T {
      return present;
    },
    changedAt: (): number => past.at(-1)?.until ?? Number.NEGATIVE_INFINITY,
    /** What it has been since, the present value last. */
    since: (at: number): readonly T[] => [...past.flatMap(({ value, until }) => (until > at ? [value] : [])), present],
  };
};
export type Timeline<T> = ReturnType<typeof createTimeline<T>>;
