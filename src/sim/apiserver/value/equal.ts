import { isRecord } from '../json.ts';

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.values(value).every((each) => each === undefined));

/**
 * Equal as the API server compares: what is absent, null and empty is the same. Shared parts cost nothing, so that
 * comparing an object with its successor costs what differs.
 */
export const equal = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => equal(each, b[index]));
  if (isRecord(a) && isRecord(b)) {
    for (const key in a) if (a[key] !== b[key] && !equal(a[key], b[key])) return false;
    for (const key in b) if (!(key in a) && !isNothing(b[key])) return false;
    return true;
  }
  return isNothing(a) && isNothing(b);
};

/** Equal as it is stored: what is empty is not the same as what is absent. */
export const identical = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => identical(each, b[index]));
  if (!isRecord(a) || !isRecord(b)) return false;
  for (const key in a) if (a[key] !== b[key] && !identical(a[key], b[key])) return false;
  for (const key in b) if (!(key in a) && b[key] !== undefined) return false;
  return true;
};
