/**
 * Negative when `a` is older than `b`, 0 when equal, positive when newer; undefined when the two cannot be ordered.
 * Servers number their versions with 64-bit integers, which a JavaScript number cannot hold: digits are compared as text.
 */
export const compareVersions = (a: string, b: string): number | undefined => {
  if (a === b) return 0;
  if (!/^[1-9]\d*$/.test(a) || !/^[1-9]\d*$/.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
};

/** True only when the order is known: what cannot be compared is taken for new. */
export const isOlder = (a: string, b: string): boolean => (compareVersions(a, b) ?? 0) < 0;
export const isOlderOrSame = (a: string, b: string): boolean => (compareVersions(a, b) ?? 1) <= 0;

/** Kubernetes' MicroTime: RFC 3339 with exactly six digits, which strict readers insist on. */
export const toMicroTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
