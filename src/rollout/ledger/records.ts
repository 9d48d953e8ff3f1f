import type { Policy } from '../policy/policy.ts';
import { advance, observeRevision } from '../record/advance.ts';
import { assess } from '../record/assess.ts';
import { type Context, type NodeRecord, newRecord } from '../record/record.ts';
import { breakerOf } from './breaker.ts';
import { createIndexes } from './indexes.ts';
import { newState, type RolloutState } from './state.ts';

/** One step of an exponential moving average: the first sample stands for all before it. */
const movingAverage = (mean: number | undefined, sample: number): number =>
  mean === undefined ? sample : mean + (sample - mean) / 16;

const unchanged = (): void => undefined;

/** The records of all nodes and the context that they are assessed against. Each change assesses and indexes a record anew. */
export const createRecords = (policy: Policy, pullsByDefault: boolean) => {
  const all = new Map<string, NodeRecord>();
  const indexes = createIndexes();
  const { tally, partition } = indexes;
  let state = newState();
  let context: Context = {
    policy,
    targetHash: undefined,
    rollout: 0,
    startedAt: undefined,
    targetSeenAt: 0,
    withheldFromOwners: false,
    initialSync: true,
    pullsByDefault,
    halted: false,
  };
  let latest = Number.NEGATIVE_INFINITY;
  let meanUpdateMs: number | undefined;

  const countUpdates = (by: number): void => {
    state = { ...state, acted: Math.max(0, state.acted + by) };
  };

  /** Changes a record and indexes it anew. Nothing else may change a record. */
  const touch = (record: NodeRecord, now: number, change: (record: NodeRecord) => void): void => {
    latest = Math.max(latest, now);
    indexes.remove(record);
    change(record);
    if (observeRevision(record, context)) countUpdates(1);
    const completed = advance(record, context, now);
    if (completed && completed.podUid !== '') meanUpdateMs = movingAverage(meanUpdateMs, now - completed.at);
    record.status = assess(record, context, now);
    if (!record.node && record.pods.length === 0 && !record.update) all.delete(record.name);
    else indexes.add(record);
  };

  const reassessAll = (now: number): void => {
    for (const record of all.values()) touch(record, now, unchanged);
    propagateSums(now);
  };

  /** Applies what follows from the sums over all records (partition, breaker) back to the records. */
  const propagateSums = (now: number): void => {
    for (;;) {
      const change = partition.next(context.policy, tally);
      if (!change) break;
      const [record, allowed] = change;
      touch(record, now, () => {
        record.partitionAllows = allowed;
      });
    }
    const halted = state.halted !== undefined;
    const stopped = halted || breakerOf(context.policy, tally, state.acted, 0).open;
    const withheldFromOwners = context.policy.strategy === 'ota' && stopped;
    if (withheldFromOwners === context.withheldFromOwners && halted === context.halted) return;
    context = { ...context, withheldFromOwners, halted };
    reassessAll(now);
  };

  return {
    indexes,
    all: all as ReadonlyMap<string, NodeRecord>,
    get state(): Readonly<RolloutState> {
      return state;
    },
    get context(): Readonly<Context> {
      return context;
    },
    /** When a record last changed, epoch ms. */
    get latest(): number {
      return latest;
    },
    /** Mean time from a reservation until the node's new pod is available, ms; undefined before the first. */
    get meanUpdateMs(): number | undefined {
      return meanUpdateMs;
    },
    /** The node's record, created if there is none. */
    of(name: string): NodeRecord {
      const known = all.get(name);
      if (known) return known;
      const record = newRecord(name);
      record.partitionAllows = partition.allows(name);
      all.set(name, record);
      return record;
    },
    touch,
    propagateSums,
    reassessAll,
    /** Reassesses the records whose time has come. */
    reassessDue(now: number): void {
      while (indexes.timers.firstTime() <= now) {
        const [record] = indexes.timers.inOrder();
        if (!record) break;
        touch(record, now, unchanged);
      }
      propagateSums(now);
    },
    countUpdates,
    /** Changes the context. The caller reassesses. */
    setContext(change: Partial<Context>): void {
      context = { ...context, ...change };
    },
    /** Changes the state. The caller reassesses. */
    setState(next: RolloutState): void {
      state = next;
    },
    /** The clock was set back to `now`. */
    resetLatest(now: number): void {
      latest = now;
    },
  };
};
