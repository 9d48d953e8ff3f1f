import type { NodeRecord, NodeStatus } from '../node/record.ts';
import { isCarriedOut, isSending } from '../node/update.ts';

/**
 * Where the node's update stands. `under way`: its request is being sent or was carried out, and it holds its slot however far
 * the new pod is. `open`: what becomes of it is still to be decided.
 */
type UpdateProgress = 'none' | 'open' | 'under way';

export const updateProgress = ({ update, status }: NodeRecord): UpdateProgress => {
  if (!update) return 'none';
  if (!isCarriedOut(update) && !isSending(update)) return 'open';
  return status.inFlight ? 'under way' : 'none';
};

/** Fields of a status that no decision goes by, and those that none goes by while the node's update is under way. */
const explaining = ['cause', 'dueAt'] as const;
const undecisive: ReadonlySet<string> = new Set<keyof NodeStatus>(explaining);
const undecisiveUnderWay: ReadonlySet<string> = new Set<keyof NodeStatus>([
  ...explaining,
  'phase',
  'down',
  'committed',
]);

/**
 * Whether another decision may follow from how a record has changed. Of some ten events of an updated pod, one or two are: most only
 * show how far it has come.
 */
export const isDecisive = (before: NodeStatus, stood: UpdateProgress, record: NodeRecord): boolean => {
  const stands = updateProgress(record);
  if (stands === 'open' || stands !== stood) return true;
  const { status } = record;
  const ignored = stands === 'under way' ? undecisiveUnderWay : undecisive;
  for (const key in status)
    if (before[key as keyof NodeStatus] !== status[key as keyof NodeStatus] && !ignored.has(key)) return true;
  return false;
};
