import { keyOf } from '../../../kube/index.ts';
import { compareNames } from '../../../text/index.ts';
import { type Connection, type DaemonSets, type Doubt, firstOf, managerState } from '../../../view/index.ts';
import type { DaemonRollout } from '../../../words/index.ts';
import type { ClusterStatus } from './read.ts';

/** Names in a note. */
const NAMED = 5;

/** What to do about rows that are not about the present, once for each reason. */
const remedies: Record<Doubt, (names: string) => string> = {
  waiting: (names) =>
    `the manager has not observed the latest change of ${names}: if this lasts, check that it is running and serves the namespace.`,
  orphaned: (names) =>
    `no DaemonSet owns the DaemonRollout ${names}: it was deleted with --cascade=orphan. A running manager removes what it left.`,
  replaced: (names) => `the DaemonSet of ${names} was deleted: the garbage collector removes the DaemonRollout.`,
  unserved: (names) =>
    `${names} opted in, but no manager has recorded a rollout: check that edgeset-manager is running and serves the namespace.`,
};

/** Why rows are not about the present, and that no manager is running. */
const doubtNotes = async (connection: Connection, { rows, daemonSets }: ClusterStatus): Promise<string[]> => {
  const notes: string[] = [];
  const doubted = Map.groupBy(rows, (rollout) => daemonSets.doubt(rollout));
  for (const [doubt, those] of doubted)
    if (doubt) notes.push(remedies[doubt](firstOf(those.map(keyOf).toSorted(compareNames), NAMED)));
  if (rows.length === 0) return notes;
  const manager = await managerState(connection, () => Promise.resolve(rows));
  if (manager.kind === 'absent') notes.push(`${manager.why}. What it recorded before may be outdated.`);
  return notes;
};

/** Why a rollout is stuck, and what is wrong with its images: its row has only a few words for it, or none. */
const conditionNotes = (rollout: DaemonRollout, daemonSets: DaemonSets): string[] => {
  if (daemonSets.doubt(rollout)) return [];
  return (rollout.status?.conditions ?? []).flatMap(({ type, status, message }) => {
    if (status !== 'True') return [];
    if (type === 'Stalled') return [`${keyOf(rollout)} is stalled: ${message}`];
    return type === 'ImageDrift' ? [`${keyOf(rollout)}: ${message}`] : [];
  });
};

/** What the rows of a cluster don't say. `conditions`: also of each rollout, which the user named. */
export const notesOf = async (
  connection: Connection,
  status: ClusterStatus,
  { conditions }: { conditions: boolean },
): Promise<string[]> => [
  ...(conditions ? status.rows.flatMap((rollout) => conditionNotes(rollout, status.daemonSets)) : []),
  ...(await doubtNotes(connection, status)),
];
