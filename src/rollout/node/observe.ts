import { WHOLE_SECOND_MS } from '../facts/metadata.ts';
import type { NodeFacts } from '../facts/node.ts';
import type { PodFacts } from '../facts/pod.ts';
import type { NodeRecord } from './record.ts';
import type { PastUpdate } from './update.ts';

/** The clocks of two machines are rarely further apart. */
export const MAX_CLOCK_SKEW_MS = 600_000;

/**
 * When to start counting towards a deadline for something that began at `begunAt` and that this process first saw at
 * `firstSeenAt`. Before that, `begunAt` comes from another clock, which may be behind ours: grant more time rather than less.
 */
export const skewTolerantStart = (begunAt: number, firstSeenAt: number): number =>
  Math.max(begunAt, Math.min(firstSeenAt, begunAt + MAX_CLOCK_SKEW_MS));

/**
 * How long after an update its node went offline. The time of another process's update is not compared with our clock, which
 * may differ by more than any suspect window, but with the time that the control plane gave to the node's condition.
 */
export const offlineAfterMs = (
  { since, node }: Pick<NodeRecord, 'since' | 'node'>,
  { at, saidAt }: Pick<PastUpdate, 'at' | 'saidAt'>,
): number => (saidAt !== undefined && node?.readyChangedAt ? node.readyChangedAt - saidAt : since - at);

export interface ObservedAt {
  /** It was in this state before: take the times that it carries, not the time of the event. */
  existing: boolean;
  now: number;
  /** Recorded if this process sees it for the first time. */
  firstSeenAt: number;
}

export const observeNode = (record: NodeRecord, facts: NodeFacts, observed: ObservedAt): void => {
  const { existing, now, firstSeenAt } = observed;
  const { node: before } = record;
  const changed = before?.ready !== facts.ready || before.readyChangedAt !== facts.readyChangedAt;
  const saidAt = facts.readyChangedAt + (facts.ready ? WHOLE_SECOND_MS : 0);
  if (changed) record.since = existing && !before ? Math.min(saidAt, now) : now;
  if (!before) record.firstSeenAt = firstSeenAt;
  record.node = facts;
};

export const observePod = (record: NodeRecord, facts: PodFacts, observed: ObservedAt): void => {
  const { now } = observed;
  const known = record.pods.find((pod) => pod.facts.uid === facts.uid);
  const wasReady = known?.facts.ready && known.facts.readyChangedAt === facts.readyChangedAt;
  const inherited = observed.existing && !known;
  const becameReadyAt = inherited ? Math.min(facts.readyChangedAt + WHOLE_SECOND_MS, now) : now;
  const readySince = !facts.ready ? 0 : wasReady ? known.readySince : becameReadyAt;
  if (inherited && record.pods.length === 0 && !facts.ready)
    record.downSince = Math.min(Math.max(facts.createdAt, facts.readyChangedAt), now);
  const existsSince = known?.existsSince ?? (inherited ? Math.min(facts.createdAt, now) : now);
  const firstSeenAt = known?.firstSeenAt ?? observed.firstSeenAt;
  const pod = { facts, readySince, existsSince, firstSeenAt, inherited: known?.inherited ?? inherited };
  record.pods = known ? record.pods.map((other) => (other === known ? pod : other)) : [...record.pods, pod];
};

/** The clock was set back to `now`: no time in the past may be later. */
export const clampTimes = (record: NodeRecord, now: number): void => {
  const clamped = <T extends { at: number }>(item: T): T => ({ ...item, at: Math.min(item.at, now) });
  record.since = Math.min(record.since, now);
  record.firstSeenAt = Math.min(record.firstSeenAt, now);
  record.downSince = Math.min(record.downSince, now);
  record.pods = record.pods.map(({ facts, readySince, existsSince, firstSeenAt, inherited }) => ({
    facts,
    readySince: Math.min(readySince, now),
    existsSince: Math.min(existsSince, now),
    firstSeenAt: Math.min(firstSeenAt, now),
    inherited,
  }));
  if (record.update) record.update = clamped(record.update);
  if (record.lastCompleted) record.lastCompleted = clamped(record.lastCompleted);
  if (record.imageRequest) record.imageRequest = clamped(record.imageRequest);
  if (record.refused) record.refused = { ...record.refused, until: Math.min(record.refused.until, now) };
};
