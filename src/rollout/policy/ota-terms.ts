const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Epoch ms of an RFC 3339 time that has a zone; undefined for any other text, days that no month has among them. */
export const parseDeadline = (text: string): number | undefined => {
  const trimmed = text.trim();
  const parts = RFC3339.exec(trimmed);
  const at = parts ? Date.parse(trimmed.toUpperCase()) : Number.NaN;
  if (!parts || Number.isNaN(at)) return undefined;
  const [year = 0, month = 0, day = 0] = parts.slice(1, 4).map(Number);
  // Date.parse takes 30 February for 2 March.
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate() ? at : undefined;
};

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const LONGEST_MS = 365 * 24 * 3_600_000;

/** Milliseconds of `1h`, `90m`, `1h30m`, `45s` or `0s`; undefined for any other text and for more than a year. */
export const parseSpread = (text: string): number | undefined => {
  const trimmed = text.trim();
  const parts = [...trimmed.matchAll(/(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== trimmed) return undefined;
  const total = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ''] ?? 0), 0);
  return total <= LONGEST_MS ? Math.round(total) : undefined;
};
