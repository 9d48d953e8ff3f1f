import { type NodeRecord, type NodeStatus, type RequestPriority, requestPriorities } from '../node/record.ts';
import { isCarriedOut } from '../node/update.ts';
import type { Scopes } from '../plan/scopes.ts';
import { createCandidates, createTimeQueue } from './candidates.ts';
import { createImageDrift, type DriftingImage } from './image-drift.ts';
import { createPartition } from './partition.ts';
import { addTo, newTally } from './tally.ts';

/**
 * The queues of candidates: `repair` holds nodes that an older update of ours broke (they use the slot that they hold),
 * `broken` other nodes whose old pod is down, `outdated` nodes with a healthy old pod.
 */
export type CandidateQueue = 'repair' | 'broken' | 'outdated';

const queueOf = ({ phase, inFlight, owner }: NodeStatus): CandidateQueue | undefined => {
  if (owner.asked) return undefined;
  if (phase === 'broken') return inFlight ? 'repair' : 'broken';
  return phase === 'outdated' ? 'outdated' : undefined;
};

/** The sets of records, and what is in each. */
const members = {
  withUpdate: ({ update }) => update !== undefined,
  unconfirmed: ({ update }) => update !== undefined && !isCarriedOut(update),
  forgiven: (record) => record.forgiven,
  failing: ({ status }) => status.failure !== undefined,
  unannounced: ({ status }) => status.owner.announcement !== undefined,
  withSurgedOutPod: ({ status }) => status.surgedOutPod !== undefined,
} satisfies Record<string, (record: NodeRecord) => boolean>;

type SetName = keyof typeof members;
const setNames = Object.keys(members) as readonly SetName[];

/** Nodes that were requested in vain before come after the others. */
const imageRequestTime = ({ node, pods, imageRequest }: NodeRecord): number =>
  Math.max(node?.readyChangedAt ?? 0, imageRequest?.at ?? 0, ...pods.map(({ facts }) => facts.images?.at ?? 0));

const createImageIndexes = () => {
  const queues = requestPriorities.map(() => createTimeQueue());
  const stale = new Set<NodeRecord>();
  const failing = new Set<NodeRecord>();
  return {
    add(record: NodeRecord): void {
      const { requestPriority, staleRequest, state } = record.status.images;
      if (requestPriority !== undefined) queues[requestPriority]?.add(record, imageRequestTime(record));
      if (staleRequest) stale.add(record);
      if (state === 'failed') failing.add(record);
    },
    remove(record: NodeRecord): void {
      for (const queue of queues) queue.remove(record);
      stale.delete(record);
      failing.delete(record);
    },
    /** Records whose images of the target may be requested with this priority, the longest Ready node first. */
    toRequest: (priority: RequestPriority): Iterable<NodeRecord> => queues[priority]?.inOrder() ?? [],
    /** Records whose pod requests images that are no longer wanted. */
    stale: (): ReadonlySet<NodeRecord> => stale,
    /** Records whose images of the target could not be pulled so far. */
    failing: (): ReadonlySet<NodeRecord> => failing,
  };
};

/** For every node of a fleet at once: V8 reads the fields of such a loop faster than those of a list of keys. */
const sameStatus = (a: NodeStatus, b: NodeStatus): boolean => {
  for (const key in b) if (a[key as keyof NodeStatus] !== b[key as keyof NodeStatus]) return false;
  return true;
};

/** Finds records by their status, and keeps the sums over all records. A record is removed before its status changes. */
export const createIndexes = () => {
  const timers = createTimeQueue();
  const queues = { repair: createCandidates(), broken: createCandidates(), outdated: createCandidates() };
  const sets: Readonly<Record<SetName, Set<NodeRecord>>> = {
    withUpdate: new Set(),
    unconfirmed: new Set(),
    forgiven: new Set(),
    failing: new Set(),
    unannounced: new Set(),
    withSurgedOutPod: new Set(),
  };
  const images = createImageIndexes();
  const busyZones = new Map<string, number>();
  const partition = createPartition();
  const tally = newTally();
  const drift = createImageDrift();

  const countZone = (zone: string, by: 1 | -1): void => {
    const busy = (busyZones.get(zone) ?? 0) + by;
    if (busy === 0) busyZones.delete(zone);
    else busyZones.set(zone, busy);
  };

  return {
    tally,
    partition,
    /** Those of these names that are not the same on all nodes at the target. */
    imageDrift: (names: readonly string[]): DriftingImage[] => drift.of(names),
    images,
    timers,
    ...(sets as Readonly<Record<SetName, ReadonlySet<NodeRecord>>>),
    /** `hasRoom`: another node of these scopes may be updated; asked each time before one is yielded. */
    candidates: (queue: CandidateQueue, hasRoom: (scopes: Scopes) => boolean): Iterable<NodeRecord> =>
      queues[queue].inOrder((zone) => busyZones.get(zone) ?? 0, hasRoom),
    /** Candidates come in another order for each target. */
    setTarget(hash: string): void {
      for (const queue of Object.values(queues)) queue.setTarget(hash);
    },
    /** The number of outdated candidates that these scopes keep waiting. */
    countIn: (isFull: (scopes: Scopes) => boolean): number => queues.outdated.countIn(isFull),

    /**
     * The record is indexed as it would be with this status. Times of its node and its pods must not have changed: queues are sorted
     * by them.
     */
    holds: (record: NodeRecord, status: NodeStatus): boolean =>
      sameStatus(record.status, status) && setNames.every((name) => sets[name].has(record) === members[name](record)),

    add(record: NodeRecord): void {
      const { status } = record;
      addTo(tally, status, 1);
      drift.add(record);
      partition.add(record);
      const queue = queueOf(status);
      if (queue) queues[queue].add(record);
      if (status.dueAt < Number.POSITIVE_INFINITY) timers.add(record, status.dueAt);
      if (status.inFlight) countZone(status.zone, 1);
      for (const name of setNames) if (members[name](record)) sets[name].add(record);
      images.add(record);
    },

    remove(record: NodeRecord): void {
      const { status } = record;
      addTo(tally, status, -1);
      drift.remove(record);
      partition.remove(record);
      const queue = queueOf(status);
      if (queue) queues[queue].remove(record);
      if (status.dueAt < Number.POSITIVE_INFINITY) timers.remove(record);
      if (status.inFlight) countZone(status.zone, -1);
      for (const name of setNames) sets[name].delete(record);
      images.remove(record);
    },
  };
};
