import type { ReconcilerContext } from '../../../controller/index.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';

/**
 * Hash of the older revision that a pod which is created on the node now is of; undefined: it is of the target. What the history has
 * lost cannot be created.
 */
export const heldRevisionOn = (
  ledger: Pick<ReconcilerContext<never, never>['ledger'], 'get'>,
  { templates }: Pick<CurrentRevision, 'templates'>,
  node: string,
): string | undefined => {
  const held = ledger.get(node)?.status.heldRevision;
  return held !== undefined && templates.has(held) ? held : undefined;
};
