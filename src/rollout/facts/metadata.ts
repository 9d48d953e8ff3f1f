import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';

export interface Owner {
  uid: string;
  kind: string;
  name: string;
  apiVersion: string;
}

/** The object's controller: of several owners, the one whose reference says `controller: true`. */
export const controllerOf = (object: { metadata?: ObjectMeta }): Owner | undefined => {
  const reference = object.metadata?.ownerReferences?.find(({ controller }) => controller === true);
  if (!reference) return undefined;
  const { uid, kind, name, apiVersion } = reference;
  return { uid, kind, name, apiVersion };
};

/** Is resource version `a` older than `b`? False if they can't be compared. */
export const isOlderVersion = (a: string, b: string): boolean => {
  const [left, right] = [Number(a), Number(b)];
  return Number.isFinite(left) && Number.isFinite(right) && left < right;
};

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Epoch ms of a Kubernetes time (RFC 3339, whole seconds or microseconds); 0 when absent or malformed. */
export const toEpochMs = (text: string | null | undefined): number => {
  const time = text != null && RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? 0 : time;
};

/** Kubernetes times are whole seconds, rounded down: what they tell of may have happened up to one second later. */
export const WHOLE_SECOND_MS = 1_000;

/** Formats epoch ms as a Kubernetes time: RFC 3339 in UTC, in whole seconds. */
export const toTimestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
