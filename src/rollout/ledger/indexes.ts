import type { NodeRecord, View } from '../record/record.ts';
import { createCandidates, createTurns } from './candidates.ts';
import { createImageBook } from './image-book.ts';
import { createMembership } from './partition.ts';
import { addTo, newTally } from './tally.ts';

/**
 * The queues of candidates: `repair` are nodes that an older act of ours broke (they use the slot that they hold),
 * `broken` are others whose old pod is down, `outdated` have a healthy old pod.
 */
export type Queue = 'repair' | 'broken' | 'outdated';

const queueOf = (view: View): Queue | undefined => {
  if (view.asked) return undefined;
  if (view.phase === 'broken') return view.inFlight ? 'repair' : 'broken';
  return view.phase === 'outdated' ? 'outdated' : undefined;
};

/** Where records are found by what is asked of them, and the sums over all: each is filed by its view, and leaves so. */
export const createFiles = () => {
  const timers = createTurns();
  const queues = { repair: createCandidates(), broken: createCandidates(), outdated: createCandidates() };
  const acting = new Set<NodeRecord>();
  const openActs = new Set<NodeRecord>();
  const forgiven = new Set<NodeRecord>();
  const failing = new Set<NodeRecord>();
  const unannounced = new Set<NodeRecord>();
  const retiring = new Set<NodeRecord>();
  const sets = [acting, openActs, forgiven, failing, unannounced, retiring];
  const images = createImageBook();
  const busyZones = new Map<string, number>();
  const membership = createMembership();
  const tally = newTally();

  const countZone = (zone: string, by: 1 | -1): void => {
    const busy = (busyZones.get(zone) ?? 0) + by;
    if (busy === 0) busyZones.delete(zone);
    else busyZones.set(zone, busy);
  };

  return {
    tally,
    membership,
    images,
    timers,
    acting,
    openActs,
    forgiven,
    failing,
    unannounced,
    retiring,
    candidates: (queue: Queue): Iterable<NodeRecord> => queues[queue].inOrder((zone) => busyZones.get(zone) ?? 0),

    enter(record: NodeRecord): void {
      const { view } = record;
      addTo(tally, view, 1);
      membership.enter(record);
      const queue = queueOf(view);
      if (queue) queues[queue].add(record);
      if (view.dueAt < Number.POSITIVE_INFINITY) timers.add(record, view.dueAt);
      if (view.inFlight) countZone(view.zone, 1);
      if (record.act) acting.add(record);
      if (record.act && record.act.stage !== 'done') openActs.add(record);
      if (record.forgiven) forgiven.add(record);
      if (view.failure) failing.add(record);
      if (view.announce) unannounced.add(record);
      if (view.retire) retiring.add(record);
      images.enter(record);
    },

    leave(record: NodeRecord): void {
      const { view } = record;
      addTo(tally, view, -1);
      membership.leave(record);
      const queue = queueOf(view);
      if (queue) queues[queue].remove(record, view.zone);
      if (view.dueAt < Number.POSITIVE_INFINITY) timers.remove(record);
      if (view.inFlight) countZone(view.zone, -1);
      for (const set of sets) set.delete(record);
      images.leave(record);
    },
  };
};
export type Files = ReturnType<typeof createFiles>;
