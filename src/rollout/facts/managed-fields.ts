import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { toEpochMs } from './metadata.ts';

interface WrittenField {
  /** Names of nested fields, such as `spec`, `renewTime`; empty for any. */
  path: readonly string[];
  /** Default: writes of the object itself. */
  subresource?: string;
  /** Default: any. */
  manager?: string;
}

/** Whether an entry of `managedFields` is about the field at this path; with an empty one, about any. */
export const ownsField = (fieldsV1: unknown, [name, ...rest]: readonly string[]): boolean => {
  if (name === undefined) return true;
  if (typeof fieldsV1 !== 'object' || fieldsV1 === null) return false;
  const inside = (fieldsV1 as Readonly<Record<string, unknown>>)[`f:${name}`];
  return inside !== undefined && ownsField(inside, rest);
};

/**
 * When an owner of the field last wrote what it owns, in epoch ms by the API server's clock, with a resolution of one second. Times
 * inside of objects come from the clocks of many machines; this one can be compared. Undefined: nobody owns the field.
 */
export const writtenAt = (
  metadata: ObjectMeta | undefined,
  { path, subresource = '', manager }: WrittenField,
): number | undefined => {
  const times = (metadata?.managedFields ?? [])
    .filter(
      (entry) =>
        (entry.subresource ?? '') === subresource &&
        (manager === undefined || entry.manager === manager) &&
        ownsField(entry.fieldsV1, path),
    )
    .map(({ time }) => toEpochMs(time))
    .filter((time) => time > 0);
  return times.length === 0 ? undefined : Math.max(...times);
};
