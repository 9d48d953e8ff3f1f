import { isDeepStrictEqual } from 'node:util';
import { advance, noteCarriedOut, observeRevision } from '../node/advance.ts';
import { assess } from '../node/assess.ts';
import { type Context, type NodeRecord, type NodeStatus, newRecord, recordSettings } from '../node/record.ts';
import { createCalendarView } from '../plan/calendar-view.ts';
import { everythingOpen, type StageView, viewStages } from '../plan/membership.ts';
import { changesOrder } from '../plan/order.ts';
import { createScopeFinder } from '../plan/scopes.ts';
import type { Policy } from '../policy/policy.ts';
import { breakerOf } from './breaker.ts';
import { isDecisive, standOf } from './decisive.ts';
import { createIndexes } from './indexes.ts';
import { isUnstaged, newState, type RolloutState } from './state.ts';

/** One step of an exponential moving average: the first sample stands for all before it. */
const movingAverage = (mean: number | undefined, sample: number): number =>
  mean === undefined ? sample : mean + (sample - mean) / 16;

const unchanged = (): void => undefined;

/** The records of all nodes and the context that they are assessed against. Each change assesses and indexes a record anew. */
export const createRecords = (
  firstPolicy: Policy,
  pullsByDefault: boolean,
  onUpdateCompleted: (durationMs: number) => void = () => undefined,
  onOrderChanged: (node: string) => void = () => undefined,
  onFailed: (error: unknown) => void = () => undefined,
) => {
  /** A change that throws leaves records and indexes in a state that nobody knows. */
  const noting =
    <A extends readonly unknown[], R>(change: (...args: A) => R) =>
    (...args: A): R => {
      try {
        return change(...args);
      } catch (error) {
        onFailed(error);
        throw error;
      }
    };
  const all = new Map<string, NodeRecord>();
  const indexes = createIndexes();
  const { tally, partition } = indexes;
  let policy = firstPolicy;
  let state = newState();
  const calendar = createCalendarView();
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
    isStageOpen: everythingOpen.isOpen,
    isCalendarOpen: calendar.isOpen,
  };
  const scopes = createScopeFinder();
  scopes.setPlan(policy.plan);
  let stages = everythingOpen;
  let latest = Number.NEGATIVE_INFINITY;
  let meanUpdateMs: number | undefined;
  let changes = 0;
  let decisive = 0;

  const countUpdates = (by: number): void => {
    state = { ...state, acted: Math.max(0, state.acted + by) };
  };

  /** Brings a record up to date, and returns its new status. What the indexes know it by stays as it was. */
  const refresh = (record: NodeRecord, now: number): NodeStatus => {
    record.stage = stages.stageOf(record.node);
    record.scopes = scopes.of(record.node, record.stage);
    if (observeRevision(record, context)) countUpdates(1);
    if (noteCarriedOut(record, context)) countUpdates(-1);
    const completed = advance(record, context, now);
    if (completed && completed.podUid !== '') {
      meanUpdateMs = movingAverage(meanUpdateMs, now - completed.at);
      onUpdateCompleted(now - completed.at);
    }
    return assess(record, context, now);
  };

  /** Indexes a record that was removed from the indexes. */
  const place = (record: NodeRecord, status: NodeStatus): void => {
    const before = record.status;
    record.status = status;
    if (!record.node && record.pods.length === 0 && !record.update) all.delete(record.name);
    else indexes.add(record);
    if (changesOrder(before, status)) onOrderChanged(record.name);
  };

  /** Changes a record and indexes it anew. Nothing else may change a record. */
  const touch = noting((record: NodeRecord, now: number, change: (record: NodeRecord) => void): void => {
    latest = Math.max(latest, now);
    changes += 1;
    const { status: before } = record;
    const stood = standOf(record);
    indexes.remove(record);
    change(record);
    place(record, refresh(record, now));
    if (isDecisive(before, stood, record)) decisive += 1;
  });

  /**
   * A new target or policy leaves most records of a large fleet as they are, and to index one costs twice as much as to assess it.
   */
  const reassessAll = noting((now: number): void => {
    latest = Math.max(latest, now);
    changes += 1;
    for (const record of all.values()) {
      const status = refresh(record, now);
      if (indexes.holds(record, status)) continue;
      indexes.remove(record);
      place(record, status);
      decisive += 1;
    }
    propagateSums(now);
  });

  /** The breaker's threshold in force. */
  const termsOfBreaker = (): Pick<Policy, 'failureThreshold'> => ({
    failureThreshold: stages.failureThreshold ?? policy.failureThreshold,
  });

  /** The plan, what was passed, or the target has changed. The caller reassesses. */
  const viewStagesAnew = noting((): void => {
    stages = viewStages(policy.plan, state.stages, isUnstaged(state), state.target?.hash ?? '');
    context = { ...context, isStageOpen: stages.isOpen };
  });

  /** Opens stages, and changes only the records that it concerns. */
  const restage = (now: number): void => {
    const before = stages;
    viewStagesAnew();
    for (const record of all.values()) {
      const stage = stages.stageOf(record.node);
      if (stage !== record.stage || before.isOpen(record.stage) !== stages.isOpen(stage)) touch(record, now, unchanged);
    }
  };

  /** Opens and closes windows and freezes whose time has come. True: something changed, and the caller reassesses. */
  const followCalendar = noting((now: number): boolean => {
    const { plan } = policy;
    const lifted = state.rollback && plan?.windowsOnRollback !== true;
    return calendar.set(lifted ? undefined : plan?.calendar, now);
  });

  /** Applies what follows from the sums over all records (partition, breaker) back to the records. */
  const propagateSums = noting((now: number): void => {
    for (;;) {
      const change = partition.next(policy, tally);
      if (!change) break;
      const [record, allowed] = change;
      touch(record, now, () => {
        record.partitionAllows = allowed;
      });
    }
    const failures = tally.onlineFailures + tally.lostFailures + indexes.forgiven.size;
    if (failures > state.current.failures) state = { ...state, current: { ...state.current, failures } };
    const halted = state.halted !== undefined;
    const stopped = halted || breakerOf(termsOfBreaker(), tally, state.acted, 0).open;
    const withheldFromOwners = policy.strategy === 'ota' && stopped;
    if (withheldFromOwners === context.withheldFromOwners && halted === context.halted) return;
    context = { ...context, withheldFromOwners, halted };
    reassessAll(now);
  });

  return {
    indexes,
    all: all as ReadonlyMap<string, NodeRecord>,
    get state(): Readonly<RolloutState> {
      return state;
    },
    get policy(): Policy {
      return policy;
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
    /** How often records or the state have changed. */
    get changes(): number {
      return changes;
    },
    /** How often a record has changed in a way that another decision may follow from. */
    get decisive(): number {
      return decisive;
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
    get stages(): StageView {
      return stages;
    },
    /** When windows and freezes are next open or closed, on nodes of some time zone. */
    calendar,
    touch,
    restage,
    followCalendar,
    termsOfBreaker,
    viewStagesAnew,
    /** True: records depend on what has changed, and the caller reassesses every one. */
    setPolicy(next: Policy): boolean {
      const before = policy;
      policy = next;
      changes += 1;
      if (recordSettings.every((setting) => isDeepStrictEqual(before[setting], next[setting]))) return false;
      context = { ...context, policy };
      scopes.setPlan(policy.plan);
      viewStagesAnew();
      return true;
    },
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
      changes += 1;
      state = next;
    },
    /** The clock was set back to `now`. */
    resetLatest(now: number): void {
      latest = now;
    },
  };
};
