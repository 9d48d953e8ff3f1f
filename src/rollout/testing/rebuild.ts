import { createLedger } from '../fleet/ledger.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import { requestPriorities } from '../node/record.ts';
import type { NodeUpdate } from '../node/update.ts';

/** Rebuilds a ledger from scratch from what another one remembers of each node: all sums and indexes, in another order. */
export const rebuild = (ledger: Ledger, now: number): Ledger => {
  // Another one than in the end, so that the end reassesses every record.
  const fresh = createLedger({ ...ledger.policy, settleMs: ledger.policy.settleMs + 1 });
  fresh.finishInitialSync();
  const records = [...ledger.records()].toReversed();
  const updates = new Map<string, NodeUpdate>();
  for (const { name, update, node, pods } of records) {
    if (update) updates.set(name, update);
    for (const { facts } of pods) fresh.setPod(facts, now);
    if (node) fresh.setNode(node, now);
  }
  fresh.restore(ledger.state, updates, new Set([...ledger.forgiven()].map(({ name }) => name)), ledger.targetSeenAt);
  for (const { node: _node, forgiven: _forgiven, partitionAllows: _side, status: _status, ...own } of records) {
    const copy = fresh.get(own.name);
    if (copy) Object.assign(copy, structuredClone(own));
  }
  fresh.setPolicy(ledger.policy, now);
  return fresh;
};

const byText = ([a]: [string, number], [b]: [string, number]): number => (a < b ? -1 : 1);

/** Everything that others read from a ledger, in a canonical order. */
export const contentOf = (ledger: Ledger) => ({
  tally: { ...ledger.tally, causes: [...ledger.tally.causes].filter(([, count]) => count > 0).toSorted(byText) },
  nodes: [...ledger.records()]
    .map(({ name, node, status, partitionAllows, update }) => {
      // The side of the partition only matters while a node waits.
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
