/** One breach of an invariant. */
export interface Breach {
  rule: string;
  at: number;
  text: string;
}

/** Takes down what is found, and how often was looked. `title`: whose it is, where there are several. */
export const createReport = (now: () => number, title?: string) => {
  const breaches: Breach[] = [];
  const checked = new Map<string, number>();
  return {
    breaches: breaches as readonly Breach[],
    checked: checked as ReadonlyMap<string, number>,
    breach: (rule: string, text: string): void =>
      void breaches.push({ rule, at: now(), text: title === undefined ? text : `${title}: ${text}` }),
    check: (rule: string): void => void checked.set(rule, (checked.get(rule) ?? 0) + 1),
  };
};
export type Report = ReturnType<typeof createReport>;
