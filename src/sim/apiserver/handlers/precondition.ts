import type { StoredObject } from '../../types.ts';
import type { Kind } from '../registry/index.ts';
import { keyOf } from '../storage/index.ts';

// Where a real server keeps some of its oldest kinds.
const FOLDERS: Readonly<Record<string, string>> = { nodes: 'minions', services: 'services/specs' };

const folderOf = (kind: Kind): string => {
  if (kind.custom || kind.group === 'apiextensions.k8s.io') return `${kind.group}/${kind.plural}`;
  return FOLDERS[kind.plural] ?? kind.plural;
};

/** What a write is told whose precondition does not hold: the storage's own words. */
export const preconditionFailed = (
  kind: Kind,
  { metadata }: StoredObject,
  what: 'UID' | 'ResourceVersion',
  wanted: string,
  present: string,
): string =>
  `StorageError: invalid object, Code: 4, Key: /registry/${folderOf(kind)}/${keyOf(metadata.namespace, metadata.name)}, ` +
  `ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${what} in precondition: ${wanted}, ` +
  `${what} in object meta: ${present}`;
