const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Epoch ms of a Kubernetes time (RFC 3339; whole seconds or microseconds); 0 when absent or no time. */
export const toEpochMs = (text: string | null | undefined): number => {
  const time = text != null && RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? 0 : time;
};

/** A Kubernetes time of `ms` since the epoch: RFC 3339 in UTC, in whole seconds. */
export const toTimestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
