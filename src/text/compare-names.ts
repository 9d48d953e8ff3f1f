// One collator for all: to create one costs as much as thousands of comparisons.
const { compare } = new Intl.Collator('en', { numeric: true });

/** Orders names as people do: `shop-2` before `shop-10`. Never equal for two that differ. */
export const compareNames = (a: string, b: string): number => compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);

/** Sorts what has a name in that order. */
export const byName = (a: { name: string }, b: { name: string }): number => compareNames(a.name, b.name);
