import { type StatusCause, StatusError } from '../errors.ts';
import { at, isRecord, type Json, recordOf, textOf, without, withPath } from '../json.ts';
import type { Shape } from '../schema/shape.ts';
import { compare } from './compare.ts';
import { commonPaths, difference, fieldsOf, formatPath } from './field-set.ts';
import { type ManagedFieldsEntry, withoutServerFields } from './managed-fields.ts';

/** A field that the applied configuration changes and another manager owns. */
export interface Conflict {
  readonly owner: ManagedFieldsEntry;
  readonly path: readonly string[];
}

const ownerText = ({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string => {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
};

const listed = (conflicts: readonly Conflict[]): string => {
  const byOwner = Map.groupBy(conflicts, ({ owner }) => ownerText(owner));
  return [...byOwner]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([owner, all]) => `conflicts with ${owner}:\n${all.map(({ path }) => `- ${formatPath(path)}`).join('\n')}`)
    .join('\n');
};

/** Throws the conflict error of an apply. */
export const throwConflicts = (conflicts: readonly Conflict[]): never => {
  const causes: StatusCause[] = conflicts.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${ownerText(owner)}`,
    field: formatPath(path),
  }));
  const [only] = conflicts;
  const text =
    only && conflicts.length === 1
      ? `1 conflict: conflict with ${ownerText(only.owner)}: ${formatPath(only.path)}`
      : `${conflicts.length} conflicts: ${listed(conflicts)}`;
  throw new StatusError('Conflict', `Apply failed with ${text}`, { causes });
};

/** The field manager of `kubectl apply --server-side`, which the server migrates from client-side apply. */
export const KUBECTL = 'kubectl';
const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

const lastApplied = (object: Json): Json | undefined => {
  const text = textOf(at(object, 'metadata', 'annotations', ANNOTATION));
  if (text === '') return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
};

/** The conflicts, except in fields that are unchanged since kubectl's last client-side apply. */
export const withoutClientSideConflicts = (
  conflicts: readonly Conflict[],
  present: Json,
  shape: Shape,
): readonly Conflict[] => {
  const applied = lastApplied(present);
  if (!applied || conflicts.length === 0) return conflicts;
  const then = withoutServerFields(applied);
  const { changed, removed } = compare(then, withoutServerFields(present), shape);
  const untouched = difference(difference(fieldsOf(then, shape), changed), removed);
  return conflicts.filter(({ path }) => {
    const set = path.toReversed().reduce<Json>((inner, step) => ({ [step]: inner }), {});
    return commonPaths(set, untouched).length === 0;
  });
};

/** Updates kubectl's last-applied annotation, if the object has it. */
export const withLastApplied = (object: Json, config: Json): Json => {
  if (textOf(at(object, 'metadata', 'annotations', ANNOTATION)) === '') return object;
  const metadata = without(recordOf(config.metadata), 'managedFields');
  const annotations = without(recordOf(metadata.annotations), ANNOTATION);
  const bare = { ...config, metadata: { ...metadata, ...(metadata.annotations === undefined ? {} : { annotations }) } };
  return withPath(object, ['metadata', 'annotations', ANNOTATION], `${JSON.stringify(bare)}\n`);
};
