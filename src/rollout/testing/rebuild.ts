import { createLedger, type Ledger } from '../ledger/ledger.ts';
import { askTurns } from '../record/images.ts';
import type { Act } from '../record/record.ts';

/**
 * A ledger made from scratch out of what another one remembers of each node: everything that is counted, filed, sorted
 * or derived is made anew, in another order.
 */
export const rebuild = (ledger: Ledger, now: number): Ledger => {
  const fresh = createLedger(ledger.policy);
  fresh.firstSightOver();
  const records = [...ledger.records()].toReversed();
  const acts = new Map<string, Act>();
  for (const { name, act, node, pods } of records) {
    if (act) acts.set(name, act);
    for (const { facts } of pods) fresh.setPod(facts, now);
    if (node) fresh.setNode(node, now);
  }
  fresh.restore(ledger.state, acts, new Set([...ledger.forgiven()].map(({ name }) => name)), ledger.heardAt);
  for (const { name, since, metAt, downSince, pods, act, ran, healed, refused, asking } of records) {
    const copy = fresh.get(name);
    if (copy)
      Object.assign(copy, structuredClone({ since, metAt, downSince, pods, act, ran, healed, refused, asking }));
  }
  fresh.setPolicy(ledger.policy, now);
  return fresh;
};

const byText = ([a]: [string, number], [b]: [string, number]): number => (a < b ? -1 : 1);

/** Everything of a ledger that others read, in an order of its own. */
export const contentOf = (ledger: Ledger) => ({
  tally: { ...ledger.tally, causes: [...ledger.tally.causes].filter(([, count]) => count > 0).toSorted(byText) },
  nodes: [...ledger.records()]
    .map(({ name, node, view, member, act }) => {
      // Membership means something only where a node waits.
      const waits = view.phase !== undefined && !view.taken && node?.selected;
      return { name, view, act, member: waits ? member : undefined };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  queues: (['repair', 'broken', 'outdated'] as const).map((queue) =>
    [...ledger.candidates(queue)].map(({ name }) => name),
  ),
  sets: [
    ledger.acting(),
    ledger.openActs(),
    ledger.failing(),
    ledger.forgiven(),
    ledger.unannounced(),
    ledger.retiring(),
    ledger.images.misasking(),
    ledger.images.failing(),
  ].map((set) => [...set].map(({ name }) => name).toSorted()),
  asks: askTurns.map((turn) => [...ledger.images.toAsk(turn)].map(({ name }) => name)),
  nextDueAt: ledger.nextDueAt(),
});
