import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { toEpochMs } from '../rollout/index.ts';

export interface WrittenField {
  /** Names of nested fields, such as `spec`, `renewTime`. */
  path: readonly string[];
  /** Default: writes of the object itself. */
  subresource?: string;
  /** Default: any. */
  manager?: string;
}

const has = (fields: unknown, path: readonly string[]): boolean =>
  path.reduce<unknown>((found, name) => {
    const inside = typeof found === 'object' && found !== null ? found : {};
    return (inside as Readonly<Record<string, unknown>>)[`f:${name}`];
  }, fields) !== undefined;

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
        has(entry.fieldsV1, path),
    )
    .map(({ time }) => toEpochMs(time))
    .filter((time) => time > 0);
  return times.length === 0 ? undefined : Math.max(...times);
};
