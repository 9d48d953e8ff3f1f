import type { NodeFacts, PodFacts } from '../facts/types.ts';
import type { NodeRecord } from './record.ts';

/** Kubernetes tells times in whole seconds: a node may have come back up to one later, and is given that to settle. */
const WHOLE_SECOND_MS = 1_000;

/**
 * What is seen of nodes and pods enters a record here: since when a thing is so is told by our own clock where we saw it
 * become so, and at the first sight by the times that it carries.
 */
export const observeNode = (record: NodeRecord, facts: NodeFacts, wasSo: boolean, now: number, metAt: number): void => {
  const { node: before } = record;
  const changed = before?.ready !== facts.ready || before.readyChangedAt !== facts.readyChangedAt;
  const saidAt = facts.readyChangedAt + (facts.ready ? WHOLE_SECOND_MS : 0);
  if (changed) record.since = wasSo && !before ? Math.min(saidAt, now) : now;
  if (!before) record.firstSeenAt = metAt;
  record.node = facts;
};

export const observePod = (
  record: NodeRecord,
  facts: PodFacts,
  initialSync: boolean,
  now: number,
  metAt: number,
): void => {
  const known = record.pods.find((pod) => pod.facts.uid === facts.uid);
  const wasReady = known?.facts.ready && known.facts.readyChangedAt === facts.readyChangedAt;
  const inherited = initialSync && !known;
  const seenReady = inherited ? Math.min(facts.readyChangedAt, now) : now;
  const readySince = !facts.ready ? 0 : wasReady ? known.readySince : seenReady;
  if (inherited && record.pods.length === 0 && !facts.ready)
    record.downSince = Math.min(Math.max(facts.createdAt, facts.readyChangedAt), now);
  const existsSince = known?.existsSince ?? (inherited ? Math.min(facts.createdAt, now) : now);
  const firstSeenAt = known?.firstSeenAt ?? metAt;
  const pod = { facts, readySince, existsSince, firstSeenAt, inherited: known?.inherited ?? inherited };
  record.pods = known ? record.pods.map((other) => (other === known ? pod : other)) : [...record.pods, pod];
};
