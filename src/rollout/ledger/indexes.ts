import type { NodeRecord, NodeStatus } from '../record/record.ts';
import { createCandidates, createTimeQueue } from './candidates.ts';
import { createImageIndex } from './image-book.ts';
import { createPartition } from './partition.ts';
import { addTo, newTally } from './tally.ts';

/**
 * The queues of candidates: `repair` are nodes that an older act of ours broke (they use the slot that they hold),
 * `broken` are others whose old pod is down, `outdated` have a healthy old pod.
 */
export type CandidateQueue = 'repair' | 'broken' | 'outdated';

const queueOf = (view: NodeStatus): CandidateQueue | undefined => {
  if (view.asked) return undefined;
  if (view.phase === 'broken') return view.inFlight ? 'repair' : 'broken';
  return view.phase === 'outdated' ? 'outdated' : undefined;
};

/** Where records are found by what is asked of them, and the sums over all: each is filed by its view, and leaves so. */
export const createIndexes = () => {
  const timers = createTimeQueue();
  const queues = { repair: createCandidates(), broken: createCandidates(), outdated: createCandidates() };
  const withUpdate = new Set<NodeRecord>();
  const unconfirmed = new Set<NodeRecord>();
  const forgiven = new Set<NodeRecord>();
  const failing = new Set<NodeRecord>();
  const unannounced = new Set<NodeRecord>();
  const withSurgedOutPod = new Set<NodeRecord>();
  const sets = [withUpdate, unconfirmed, forgiven, failing, unannounced, withSurgedOutPod];
  const images = createImageIndex();
  const busyZones = new Map<string, number>();
  const partition = createPartition();
  const tally = newTally();

  const countZone = (zone: string, by: 1 | -1): void => {
    const busy = (busyZones.get(zone) ?? 0) + by;
    if (busy === 0) busyZones.delete(zone);
    else busyZones.set(zone, busy);
  };

  return {
    tally,
    partition,
    images,
    timers,
    withUpdate,
    unconfirmed,
    forgiven,
    failing,
    unannounced,
    withSurgedOutPod,
    candidates: (queue: CandidateQueue): Iterable<NodeRecord> =>
      queues[queue].inOrder((zone) => busyZones.get(zone) ?? 0),

    enter(record: NodeRecord): void {
      const { status } = record;
      addTo(tally, status, 1);
      partition.enter(record);
      const queue = queueOf(status);
      if (queue) queues[queue].add(record);
      if (status.dueAt < Number.POSITIVE_INFINITY) timers.add(record, status.dueAt);
      if (status.inFlight) countZone(status.zone, 1);
      if (record.update) withUpdate.add(record);
      if (record.update && record.update.stage !== 'done') unconfirmed.add(record);
      if (record.forgiven) forgiven.add(record);
      if (status.failure) failing.add(record);
      if (status.announcement) unannounced.add(record);
      if (status.surgedOutPod) withSurgedOutPod.add(record);
      images.enter(record);
    },

    leave(record: NodeRecord): void {
      const { status } = record;
      addTo(tally, status, -1);
      partition.leave(record);
      const queue = queueOf(status);
      if (queue) queues[queue].remove(record, status.zone);
      if (status.dueAt < Number.POSITIVE_INFINITY) timers.remove(record);
      if (status.inFlight) countZone(status.zone, -1);
      for (const set of sets) set.delete(record);
      images.leave(record);
    },
  };
};
export type Indexes = ReturnType<typeof createIndexes>;
