import { type StatusCause, StatusError } from '../errors.ts';
import { formatPath } from './field-set.ts';
import type { ManagedFieldsEntry } from './managed-fields.ts';

/** A field that an applier wants to have otherwise, and another manager owns. */
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

/** Throws the refusal of an apply that others' fields stand against. */
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
  throw new StatusError('Conflict', 409, 'Conflict', `Apply failed with ${text}`, { causes });
};
