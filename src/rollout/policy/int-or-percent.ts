/** A number of nodes or a percentage of them: Kubernetes' IntOrString in annotations and specs. */
export type IntOrPercent =
  | { readonly kind: 'int'; readonly value: number }
  | { readonly kind: 'percent'; readonly value: number };

export const percent = (value: number): IntOrPercent => ({ kind: 'percent', value });
export const count = (value: number): IntOrPercent => ({ kind: 'int', value });

/** Reads `3` or `10%`; undefined for anything else (signs, fractions, blanks inside, empty text). */
export const parseIntOrPercent = (text: string): IntOrPercent | undefined => {
  const match = /^(\d{1,9})(%?)$/.exec(text.trim());
  if (!match) return undefined;
  const value = Number(match[1]);
  return match[2] === '%' ? percent(value) : count(value);
};

export const formatIntOrPercent = (value: IntOrPercent): string =>
  value.kind === 'percent' ? `${value.value}%` : String(value.value);

/** Scales a percentage to `total` and rounds it `up` or `down`; returns an integer as it is. */
export const scaledValue = (value: IntOrPercent, total: number, rounding: 'up' | 'down'): number => {
  if (value.kind === 'int') return value.value;
  // Multiply first: 0.07 * 100 is 7.000000000000001 in floating point and would round up to 8.
  const share = (value.value * total) / 100;
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share);
};

/** How many of `total` nodes may be down, or surge, at once: rounded up, and at least 1 unless the value is zero. */
export const budgetShare = (share: IntOrPercent, total: number): number =>
  share.value === 0 ? 0 : Math.max(1, scaledValue(share, total, 'up'));
