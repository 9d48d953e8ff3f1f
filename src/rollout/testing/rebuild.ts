import { createLedger, type Ledger } from '../ledger/ledger.ts';
import { requestPriorities } from '../record/images.ts';
import type { NodeUpdate } from '../record/update.ts';

/**
 * A ledger made from scratch out of what another one remembers of each node: everything that is counted, filed, sorted
 * or derived is made anew, in another order.
 */
export const rebuild = (ledger: Ledger, now: number): Ledger => {
  const fresh = createLedger(ledger.policy);
  fresh.finishInitialSync();
  const records = [...ledger.records()].toReversed();
  const updates = new Map<string, NodeUpdate>();
  for (const { name, update, node, pods } of records) {
    if (update) updates.set(name, update);
    for (const { facts } of pods) fresh.setPod(facts, now);
    if (node) fresh.setNode(node, now);
  }
  fresh.restore(ledger.state, updates, new Set([...ledger.forgiven()].map(({ name }) => name)), ledger.targetSeenAt);
  for (const {
    name,
    since,
    firstSeenAt,
    downSince,
    pods,
    update,
    lastRevision,
    lastCompleted,
    refused,
    imageRequest,
  } of records) {
    const copy = fresh.get(name);
    if (copy)
      Object.assign(
        copy,
        structuredClone({
          since,
          firstSeenAt,
          downSince,
          pods,
          update,
          lastRevision,
          lastCompleted,
          refused,
          imageRequest,
        }),
      );
  }
  fresh.setPolicy(ledger.policy, now);
  return fresh;
};

const byText = ([a]: [string, number], [b]: [string, number]): number => (a < b ? -1 : 1);

/** Everything of a ledger that others read, in an order of its own. */
export const contentOf = (ledger: Ledger) => ({
  tally: { ...ledger.tally, causes: [...ledger.tally.causes].filter(([, count]) => count > 0).toSorted(byText) },
  nodes: [...ledger.records()]
    .map(({ name, node, status, partitionAllows, update }) => {
      // Membership means something only where a node waits.
      const waits = status.phase !== undefined && !status.committed && node?.selected;
      return { name, status, update, partitionAllows: waits ? partitionAllows : undefined };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  queues: (['repair', 'broken', 'outdated'] as const).map((queue) =>
    [...ledger.candidates(queue)].map(({ name }) => name),
  ),
  sets: [
    ledger.withUpdate(),
    ledger.unconfirmed(),
    ledger.failing(),
    ledger.forgiven(),
    ledger.unannounced(),
    ledger.withSurgedOutPod(),
    ledger.images.stale(),
    ledger.images.failing(),
  ].map((set) => [...set].map(({ name }) => name).toSorted()),
  asks: requestPriorities.map((turn) => [...ledger.images.toRequest(turn)].map(({ name }) => name)),
  nextDueAt: ledger.nextDueAt(),
});
