import { type Cause, Refusal } from '../refusal.ts';
import { pathText } from './field-set.ts';
import type { Manager } from './managers.ts';

/** A field that an applier wants to have otherwise, and another manager owns. */
export interface Conflict {
  readonly owner: Manager;
  readonly path: readonly string[];
}

const ownerText = ({ manager, operation, apiVersion, subresource }: Manager): string => {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
};

const listed = (conflicts: readonly Conflict[]): string => {
  const byOwner = Map.groupBy(conflicts, ({ owner }) => ownerText(owner));
  return [...byOwner]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([owner, all]) => `conflicts with ${owner}:\n${all.map(({ path }) => `- ${pathText(path)}`).join('\n')}`)
    .join('\n');
};

/** Throws the refusal of an apply that others' fields stand against. */
export const refuseConflicts = (conflicts: readonly Conflict[]): never => {
  const causes: Cause[] = conflicts.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${ownerText(owner)}`,
    field: pathText(path),
  }));
  const [only] = conflicts;
  const text =
    only && conflicts.length === 1
      ? `1 conflict: conflict with ${ownerText(only.owner)}: ${pathText(only.path)}`
      : `${conflicts.length} conflicts: ${listed(conflicts)}`;
  throw new Refusal('Conflict', 409, 'Conflict', `Apply failed with ${text}`, { causes });
};
