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
import { createIndexes } from './indexes.ts';
import { isUnstaged, newState, type RolloutState } from './state.ts';

/** One step of an exponential moving average: the first sample stands for all before it. */
const movingAverage = (mean: number | undefined, sample: number): number =>
  mean === undefined ? sample : mean + (sample - mean) / 16;

const unchanged = (): void => undefined;

/** What an edit changes the records with, and what they are assessed against. */
export interface Edit {
  /** The node's record, created if there is none. */
  of: (name: string) => NodeRecord;
  /** Changes a record and indexes it again. */
  touch: (record: NodeRecord, now: number, change: (record: NodeRecord) => void) => void;
  reassessAll: (now: number) => void;
  /** Reassesses the records whose time has come. */
  reassessDue: (now: number) => void;
  /** Opens stages, or ends what they expose nodes to, and changes only the records that it concerns. */
  restage: (now: number) => void;
  /** The plan, what was passed, or the target has changed. The caller reassesses. */
  viewStagesAgain: () => void;
  /** Opens and closes windows and freezes whose time has come. True: something changed, and the caller reassesses. */
  followCalendar: (now: number) => boolean;
  /** Changes the number of nodes updated in this rollout. */
  countUpdates: (by: number) => void;
  /** True: records depend on what has changed, and the caller reassesses every one. */
  setPolicy: (next: Policy) => boolean;
  /** Changes the context. The caller reassesses. */
  setContext: (change: Partial<Context>) => void;
  /** Changes the state. The caller reassesses. */
  setState: (next: RolloutState) => void;
  /** The clock was set back to `now`. */
  resetLatest: (now: number) => void;
}

/**
 * The records of all nodes and the context that they are assessed against. Each change assesses and indexes a record again, and is
 * made by an `edit`: nothing else has what changes them.
 */
export const createRecords = (
  firstPolicy: Policy,
  pullsByDefault: boolean,
  onUpdateCompleted: (durationMs: number) => void = () => undefined,
  onOrderChanged: (node: string) => void = () => undefined,
  onFailed: (error: unknown) => void = () => undefined,
) => {
  const all = new Map<string, NodeRecord>();
  const indexes = createIndexes();
  const { tally, partition } = indexes;
  let policy = firstPolicy;
  let state = newState();
  const calendar = createCalendarView();
  let context: Context = {
    policy,
    targetHash: undefined,
    heldRevision: undefined,
    rollout: 0,
    startedAt: undefined,
    targetSeenAt: 0,
    withheldFromOwners: false,
    initialSync: true,
    pullsByDefault,
    halted: false,
    isStageOpen: everythingOpen.isOpen,
    exposes: everythingOpen.exposes,
    isCalendarOpen: calendar.isOpen,
  };
  const scopes = createScopeFinder();
  scopes.setPlan(policy.plan);
  let stages = everythingOpen;
  let latest = Number.NEGATIVE_INFINITY;
  let meanUpdateMs: number | undefined;
  let changes = 0;

  const countUpdates = (by: number): void => {
    if (by !== 0) state = { ...state, updatesStarted: Math.max(0, state.updatesStarted + by) };
  };

  /** Brings a record up to date, and returns its new status. What the indexes know it by stays as it was. */
  const refresh = (record: NodeRecord, now: number): NodeStatus => {
    record.stage = stages.stageOf(record.node);
    record.scopes = scopes.of(record.node, record.stage);
    if (observeRevision(record, context)) countUpdates(1);
    if (noteCarriedOut(record, context)) countUpdates(-1);
    const completed = advance(record, context, now);
    if (completed && completed.state !== 'past') {
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

  const touch = (record: NodeRecord, now: number, change: (record: NodeRecord) => void): void => {
    latest = Math.max(latest, now);
    changes += 1;
    indexes.remove(record);
    change(record);
    place(record, refresh(record, now));
  };

  /**
   * A new target or policy leaves most records of a large fleet as they are, and to index one costs twice as much as to assess it.
   */
  const reassessAll = (now: number): void => {
    latest = Math.max(latest, now);
    changes += 1;
    for (const record of all.values()) {
      const status = refresh(record, now);
      if (indexes.holds(record, status)) continue;
      indexes.remove(record);
      place(record, status);
    }
  };

  /** The breaker's threshold in force. */
  const termsOfBreaker = (): Pick<Policy, 'failureThreshold'> => ({
    failureThreshold: stages.failureThreshold ?? policy.failureThreshold,
  });

  const viewStagesAgain = (): void => {
    const { target, lastComplete } = state;
    const wasComplete = target !== undefined && lastComplete?.hash === target.hash;
    stages = viewStages(policy.plan, state.stages, isUnstaged(state), target?.hash ?? '', wasComplete);
    context = { ...context, isStageOpen: stages.isOpen, exposes: stages.exposes };
  };

  const restage = (now: number): void => {
    const before = stages;
    viewStagesAgain();
    for (const record of all.values()) {
      const stage = stages.stageOf(record.node);
      const same =
        stage === record.stage &&
        before.isOpen(stage) === stages.isOpen(stage) &&
        before.exposes(stage) === stages.exposes(stage);
      if (!same) touch(record, now, unchanged);
    }
  };

  const followCalendar = (now: number): boolean => {
    const { plan } = policy;
    const lifted = state.rollback && plan?.windowsOnRollback !== true;
    return calendar.set(lifted ? undefined : plan?.calendar, now);
  };

  /** Applies what follows from the sums over all records (partition, breaker) back to the records, until nothing does. */
  const propagateSums = (now: number): void => {
    for (;;) {
      for (let change = partition.next(policy, tally); change; change = partition.next(policy, tally)) {
        const [record, allowed] = change;
        touch(record, now, () => {
          record.partitionAllows = allowed;
        });
      }
      const failures = tally.onlineFailures + tally.lostFailures + indexes.forgiven.size;
      if (failures > state.current.failures) state = { ...state, current: { ...state.current, failures } };
      const halted = state.halted !== undefined;
      const stopped = halted || breakerOf(termsOfBreaker(), tally, state.updatesStarted, 0).open;
      const withheldFromOwners = policy.strategy === 'ota' && stopped;
      if (withheldFromOwners === context.withheldFromOwners && halted === context.halted) return;
      context = { ...context, withheldFromOwners, halted };
      reassessAll(now);
    }
  };

  const writes: Edit = {
    of(name) {
      const known = all.get(name);
      if (known) return known;
      const record = newRecord(name);
      record.partitionAllows = partition.allows(name);
      all.set(name, record);
      return record;
    },
    touch,
    reassessAll,
    reassessDue(now) {
      while (indexes.timers.firstTime() <= now) {
        const [record] = indexes.timers.inOrder();
        if (!record) break;
        touch(record, now, unchanged);
      }
    },
    restage,
    viewStagesAgain,
    followCalendar,
    countUpdates,
    setPolicy(next) {
      const before = policy;
      policy = next;
      changes += 1;
      if (recordSettings.every((setting) => isDeepStrictEqual(before[setting], next[setting]))) return false;
      context = { ...context, policy };
      scopes.setPlan(policy.plan);
      viewStagesAgain();
      return true;
    },
    setContext(change) {
      context = { ...context, ...change };
    },
    setState(next) {
      changes += 1;
      state = next;
      indexes.setTarget(next.target?.hash ?? '');
    },
    resetLatest(now) {
      latest = now;
    },
  };

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
    get stages(): StageView {
      return stages;
    },
    /** When windows and freezes are next open or closed, on nodes of some time zone. */
    calendar,
    termsOfBreaker,
    /** The one way to change anything here. What follows from the sums over all records is applied before it returns. */
    edit: (now: number, change: (write: Edit) => void): void => {
      try {
        change(writes);
        propagateSums(now);
      } catch (error) {
        // Nobody knows which of the records and indexes were changed.
        onFailed(error);
        throw error;
      }
    },
    /** All nodes and pods have been listed. The caller reassesses. */
    finishInitialSync(): void {
      context = { ...context, initialSync: false };
    },
  };
};
