/** One breach of an invariant. */
export interface Breach {
  rule: string;
  at: number;
  text: string;
}

/** What a figure's name begins with that is no sum. */
export const MOST = 'most: ';

/** Takes down what is found, and how often was looked. `title`: whose it is, where there are several. */
export const createReport = (now: () => number, title?: string) => {
  const breaches: Breach[] = [];
  const checked = new Map<string, number>();
  const figures = new Map<string, number>();
  return {
    breaches: breaches as readonly Breach[],
    checked: checked as ReadonlyMap<string, number>,
    breach: (rule: string, text: string): void =>
      void breaches.push({ rule, at: now(), text: title === undefined ? text : `${title}: ${text}` }),
    /** What was measured: sums, or the most that was met. */
    figures: figures as ReadonlyMap<string, number>,
    figure: (name: string, value: number, as: 'sum' | 'most' = 'sum'): void => {
      const key = as === 'most' ? `${MOST}${name}` : name;
      const before = figures.get(key) ?? 0;
      figures.set(key, as === 'most' ? Math.max(before, value) : before + value);
    },
    check: (rule: string): void => void checked.set(rule, (checked.get(rule) ?? 0) + 1),
  };
};
export type Report = ReturnType<typeof createReport>;
