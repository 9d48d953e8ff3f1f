import { RESERVE_INTERVAL_MS } from '../../src/controller/index.ts';
import { seconds } from './figure.ts';
import type { OccupiedSlot } from './slots.ts';

/** A write of the DaemonRollout by the manager, as the API server saw it; ms. */
export interface RolloutWrite {
  receivedAt: number;
  answeredAt: number;
  /** Nodes that it is the first to reserve a slot for. */
  reserves: readonly string[];
}

/** What a free slot waits for until the next node takes it, in this order, ms. `wave` and `seen` alternate. */
export interface HandOver {
  /** The manager could not reserve: the last reservation was less than 100 ms ago, or a write was not answered. */
  wave: number;
  /** The rest until the reservation is received: the watch delivers, the manager decides and sends. */
  seen: number;
  /** Until the reservation is answered. */
  reservation: number;
  /** Until the write that takes the slot is received: the manager sends it and, with a surge, first claims the old pod. */
  sent: number;
  /** Until that write is answered. */
  taken: number;
}

export interface IdleSlots {
  handOvers: number;
  /** Of one hand-over. */
  mean: HandOver;
  /** Those with no wait for a wave: how long `seen` takes where no wave hides a part of it, mean, ms. */
  undelayed: { handOvers: number; seenMs: number };
  /** Mean time within an update in which the cluster waited for the manager's next write, ms. */
  lagMs: number;
  /** Mean time of a slot until its first node took it, ms. */
  startMs: number;
  /** Mean time of a slot from its last node, when no node was left to take it, until the end of the rollout, ms. */
  tailMs: number;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** How much of a period the manager could not reserve in; `writes` are in the order in which they were received. */
const closedMs = (writes: readonly RolloutWrite[], from: number, to: number): number => {
  let [closed, at] = [0, from];
  for (const { receivedAt, answeredAt, reserves } of writes) {
    const begin = Math.max(at, receivedAt);
    const end = Math.min(to, Math.max(answeredAt, reserves.length > 0 ? receivedAt + RESERVE_INTERVAL_MS : 0));
    if (end <= begin) continue;
    closed += end - begin;
    at = end;
  }
  return closed;
};

/**
 * Splits the time in which slots of a rollout were empty by what they waited for. Slots are interchangeable: the slot that
 * was freed first goes to the node that was reserved first. Together with the time that slots were occupied, hand-overs,
 * start and tail are all of the time of `k` slots. `writes` are in the order in which they were received.
 */
export const idleSlots = (
  all: readonly OccupiedSlot[],
  writes: readonly RolloutWrite[],
  { k, startedAt }: { k: number; startedAt: number },
): IdleSlots => {
  const ours = all.filter((taken) => taken.ours);
  const reservations = new Map(writes.flatMap((write) => write.reserves.map((node) => [node, write] as const)));
  const reservedAt = ({ node, from }: OccupiedSlot): number => reservations.get(node)?.receivedAt ?? from;
  const takings = ours.toSorted((a, b) => reservedAt(a) - reservedAt(b) || a.from - b.from);
  const freedAt = ours.map(({ to }) => to).toSorted((a, b) => a - b);
  const handOvers = takings.slice(k).map((next, index): HandOver => {
    const { node, from, requestedAt } = next;
    // Without a reservation in the log, all of it is `seen`.
    const { receivedAt, answeredAt } = reservations.get(node) ?? { receivedAt: from, answeredAt: from };
    // The watch may deliver a change before its writer has the answer.
    let last = Math.min(freedAt[index] ?? from, from);
    const freed = last;
    const until = (at: number): number => {
      const before = last;
      last = Math.min(from, Math.max(last, at));
      return last - before;
    };
    const unreserved = until(receivedAt);
    const wave = closedMs(writes, freed, freed + unreserved);
    return {
      wave,
      seen: unreserved - wave,
      reservation: until(answeredAt),
      sent: until(requestedAt),
      taken: until(from),
    };
  });
  const endedAt = freedAt.at(-1) ?? startedAt;
  const undelayed = handOvers.filter(({ wave }) => wave === 0);
  const meanOf = (part: keyof HandOver): number => mean(handOvers.map((handOver) => handOver[part]));
  return {
    handOvers: handOvers.length,
    mean: {
      wave: meanOf('wave'),
      seen: meanOf('seen'),
      reservation: meanOf('reservation'),
      sent: meanOf('sent'),
      taken: meanOf('taken'),
    },
    undelayed: { handOvers: undelayed.length, seenMs: mean(undelayed.map(({ seen }) => seen)) },
    lagMs: mean(ours.map(({ lagMs }) => lagMs)),
    startMs: mean(takings.slice(0, k).map(({ from }) => from - startedAt)),
    tailMs: mean(freedAt.slice(-k).map((at) => endedAt - at)),
  };
};

export interface IdleWords {
  k: number;
  /** The write that takes a slot. */
  take: string;
  /** The manager's other writes within an update; undefined: none. */
  within?: string | undefined;
}

/** For example: a slot was empty for 212 ms on average (1.9 s of the rollout): 51 ms wave, ... */
export const formatIdle = (
  { handOvers, mean: { wave, seen, reservation, sent, taken }, undelayed, lagMs, startMs, tailMs }: IdleSlots,
  { k, take, within }: IdleWords,
): string => {
  const ms = (value: number): string => `${Math.round(value)} ms`;
  const lag = within === undefined ? '' : `a node waited ${ms(lagMs)} for ${within}; `;
  const total = wave + seen + reservation + sent + taken;
  return (
    `a slot was empty for ${ms(total)} on average (${seconds((total * handOvers) / k)} of the rollout): ${ms(wave)} wave, ` +
    `${ms(seen)} watch and decision (${ms(undelayed.seenMs)} for the ${undelayed.handOvers} that no wave delayed), ` +
    `${ms(reservation)} reservation, ${ms(sent + taken)} ${take} (${ms(sent)} of it until the API server received it); ` +
    `${lag}start ${ms(startMs)}, tail ${seconds(tailMs)}`
  );
};
