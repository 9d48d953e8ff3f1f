/**
 * Compares resourceVersions: negative when `a` is older than `b`, 0 when equal, positive when newer, undefined when they
 * cannot be ordered. Versions are 64-bit integers, which exceed a JavaScript number: compare the digits as text.
 */
export const compareVersions = (a: string, b: string): number | undefined => {
  if (a === b) return 0;
  if (!/^[1-9]\d*$/.test(a) || !/^[1-9]\d*$/.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
};

/** False when the order is unknown: a version that cannot be compared counts as newer. */
export const isOlder = (a: string, b: string): boolean => (compareVersions(a, b) ?? 0) < 0;
export const isOlderOrSame = (a: string, b: string): boolean => (compareVersions(a, b) ?? 1) <= 0;

/** Kubernetes' Time: RFC 3339 in UTC, in whole seconds. */
export const toTimestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** Kubernetes' MicroTime: RFC 3339 with exactly six digits, which strict readers insist on. */
export const toMicroTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
