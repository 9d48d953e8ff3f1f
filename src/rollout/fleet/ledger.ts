import { isDeepStrictEqual } from 'node:util';
import { isDeletedTerminal } from '../facts/pod.ts';
import { noteRemovedPod } from '../node/advance.ts';
import { imageParallelism } from '../node/images.ts';
import { clampTimes, type ObservedAt, observeNode, observePod } from '../node/observe.ts';
import type { NodeRecord } from '../node/record.ts';
import type { NodeUpdate } from '../node/update.ts';
import { backOff, forgive, inheritUpdate, nextState, noteEvent, reserveUpdate } from '../node/update-events.ts';
import type { Approval } from '../plan/approval.ts';
import { isFull, isStuck, type Scopes } from '../plan/scopes.ts';
import type { Policy } from '../policy/policy.ts';
import type { CandidateQueue } from './indexes.ts';
import type { Ledger, LedgerOptions } from './ledger-types.ts';
import { createRecords, type Edit } from './records.ts';
import { retarget } from './retarget.ts';
import { heldRevision, type RolloutState } from './state.ts';

/** A slewed clock may step back a little. A larger jump would leave every remembered time in the future. */
const CLOCK_SLACK_MS = 1_000;

export const createLedger = (policy: Policy, options: LedgerOptions = {}): Ledger => {
  const { pullsByDefault = false, readOnly = false, onUpdateCompleted, onOrderChanged, onFailed } = options;
  const { aheadMs = () => 0 } = options;
  const records = createRecords(policy, pullsByDefault, onUpdateCompleted, onOrderChanged, onFailed);
  const { indexes, edit } = records;
  const nodeOfPod = new Map<string, string>();
  let sweepDue = false;
  let approvals: readonly Approval[] = [];

  const planTime = (now: number): number => now - aheadMs();

  const firstSeenAt = (now: number): number => (readOnly ? 0 : now);

  const observedAt = (now: number, existing: boolean): ObservedAt => ({
    existing: existing || records.context.initialSync,
    now,
    firstSeenAt: firstSeenAt(now),
  });

  const setTargetContext = ({ setContext }: Edit, state: RolloutState, now: number): void => {
    const { context } = records;
    const { target, rollout, startedAt } = state;
    const isKnown = context.rollout === rollout && context.targetHash === target?.hash;
    const targetSeenAt = isKnown ? context.targetSeenAt : firstSeenAt(now);
    setContext({ targetHash: target?.hash, heldRevision: heldRevision(state), rollout, startedAt, targetSeenAt });
  };

  /** Records are assessed by this target, and by what nodes keep that are kept from it. */
  const hasTargetContext = (state: RolloutState): boolean => {
    const { context } = records;
    const { target, rollout, startedAt } = state;
    return (
      rollout === context.rollout &&
      target?.hash === context.targetHash &&
      startedAt === context.startedAt &&
      heldRevision(state) === context.heldRevision
    );
  };

  const setState = (state: RolloutState, now: number): void =>
    edit(now, (write) => {
      const { rollout } = records.context;
      const { halted, current } = state;
      const { stages, rollback, lastComplete } = records.state;
      const restaged =
        state.stages !== stages || state.rollback !== rollback || state.lastComplete?.hash !== lastComplete?.hash;
      const next = halted ? { ...state, current: { ...current, haltedAt: halted.at } } : state;
      write.setState(next);
      if (hasTargetContext(next)) {
        if (restaged) write.restage(now);
        return;
      }
      write.viewStagesAgain();
      // Only failures of the previous revision were forgiven.
      if (next.rollout !== rollout) for (const record of indexes.forgiven) record.forgiven = false;
      setTargetContext(write, next, now);
      write.reassessAll(now);
    });

  /** Changes one record, if the node has one. */
  const editNode = (node: string, now: number, apply: (record: NodeRecord) => void): void => {
    const record = records.all.get(node);
    if (record) edit(now, ({ touch }) => touch(record, now, apply));
  };

  const isOfRollout = ({ update }: NodeRecord): number => Number(update?.rollout === records.state.rollout);

  /** Gives a node's slot to an update or frees it, and counts the nodes updated in this rollout. */
  const editUpdate = (node: string, now: number, apply: (record: NodeRecord) => void): void =>
    edit(now, ({ of, touch, countUpdates }) =>
      touch(of(node), now, (record) => {
        const before = isOfRollout(record);
        apply(record);
        countUpdates(isOfRollout(record) - before);
      }),
    );

  return {
    get tally() {
      return indexes.tally;
    },
    get state() {
      return records.state;
    },
    get policy() {
      return records.policy;
    },
    get targetSeenAt() {
      return records.context.targetSeenAt;
    },
    get meanUpdateMs() {
      return records.meanUpdateMs;
    },
    get changes() {
      return records.changes;
    },
    get size() {
      return records.all.size;
    },
    get: (node) => records.all.get(node),
    records: () => records.all.values(),
    withUpdate: () => indexes.withUpdate,
    unconfirmed: () => indexes.unconfirmed,
    forgiven: () => indexes.forgiven,
    failing: () => indexes.failing,
    images: indexes.images,
    imageDrift: () => indexes.imageDrift(records.state.current.images),
    imageParallelism: () => imageParallelism(records.policy, indexes.tally, records.context.pullsByDefault),
    withSurgedOutPod: () => indexes.withSurgedOutPod,
    unannounced: () => indexes.unannounced,
    candidates: (queue: CandidateQueue, hasRoom: (scopes: Scopes) => boolean = () => true): Iterable<NodeRecord> =>
      indexes.candidates(queue, hasRoom),
    waitingForRoom: () => indexes.countIn(isFull),
    waitsForStranded() {
      const waiting = indexes.countIn(isStuck);
      return waiting > 0 && waiting === indexes.countIn(() => true);
    },
    get stages() {
      return records.stages;
    },
    calendar: records.calendar,
    termsOfBreaker: records.termsOfBreaker,
    get approvals() {
      return approvals;
    },
    nextDueAt: () => Math.min(indexes.timers.firstTime(), records.calendar.changesAt() + aheadMs()),
    planTime,

    finishInitialSync() {
      sweepDue ||= records.context.initialSync;
      records.finishInitialSync();
    },

    setNode(facts, now, existing = false) {
      edit(now, ({ of, touch }) =>
        touch(of(facts.name), now, (record) => observeNode(record, facts, observedAt(now, existing))),
      );
    },

    removeNode(name, now) {
      editNode(name, now, (record) => {
        record.node = undefined;
        record.refused = undefined;
        record.forgiven = false;
      });
    },

    setPod(facts, now) {
      if (isDeletedTerminal(facts)) {
        this.removePod(facts.uid, now);
        return;
      }
      const before = nodeOfPod.get(facts.uid);
      if (before !== undefined && before !== facts.node) this.removePod(facts.uid, now);
      nodeOfPod.set(facts.uid, facts.node);
      edit(now, ({ of, touch }) =>
        touch(of(facts.node), now, (record) => observePod(record, facts, observedAt(now, false))),
      );
    },

    removePod(uid, now) {
      const node = nodeOfPod.get(uid);
      nodeOfPod.delete(uid);
      if (node === undefined) return;
      editNode(node, now, (record) => {
        record.pods = record.pods.filter((pod) => pod.facts.uid !== uid);
        noteRemovedPod(record, uid, records.context);
      });
    },

    setApprovals(next) {
      approvals = next;
    },

    setWaitsFor(node, daemonSet, now) {
      if (records.all.get(node)?.waitsFor === daemonSet) return;
      editNode(node, now, (record) => {
        record.waitsFor = daemonSet;
      });
    },

    patchStage(name, change, now) {
      const { state } = records;
      const stages = state.stages.map((stage) => (stage.name === name ? { ...stage, ...change } : stage));
      setState({ ...state, stages }, now);
    },

    setPolicy(next, now) {
      edit(now, ({ setPolicy, followCalendar, reassessAll }) => {
        const concernsRecords = setPolicy(next);
        const calendarChanged = followCalendar(planTime(now));
        if (concernsRecords || calendarChanged) reassessAll(now);
      });
    },

    setTarget(target, now, origin) {
      const { state } = records;
      const next = retarget(state, target, now, origin);
      // A revision that we rolled back was set again, for example by a GitOps tool. Rolling it out would start a cycle.
      const setAgain = next.rollout !== state.rollout && records.policy.rolledBackFrom === target.hash;
      setState(setAgain ? { ...next, halted: { at: now, reason: 'RolledBack', nodes: [] } } : next, now);
    },

    setPullsByDefault(on, now) {
      if (records.context.pullsByDefault === on) return;
      edit(now, ({ setContext, reassessAll }) => {
        setContext({ pullsByDefault: on });
        reassessAll(now);
      });
    },

    patchState(change, now) {
      setState({ ...records.state, ...change }, now);
    },

    restore(
      saved: RolloutState,
      updates: ReadonlyMap<string, NodeUpdate>,
      forgiven: ReadonlySet<string>,
      now: number,
    ): void {
      edit(now, (write) => {
        for (const name of updates.keys()) write.of(name);
        const same = hasTargetContext(saved);
        write.setState(saved);
        if (same) write.restage(now);
        else write.viewStagesAgain();
        for (const record of records.all.values()) {
          const known = updates.get(record.name);
          const update = known && inheritUpdate(known, record.update, now);
          const isForgiven = forgiven.has(record.name);
          const apply = (): void => {
            record.forgiven = isForgiven;
            record.update = update;
            record.pods = record.pods.map((pod) => ({ ...pod, inherited: true }));
          };
          // A display restores every status that is written, most of which change a few nodes of a large fleet.
          const unchanged =
            record.forgiven === isForgiven &&
            record.pods.every(({ inherited }) => inherited) &&
            isDeepStrictEqual(record.update, update);
          if (!same) apply();
          else if (!unchanged) write.touch(record, now, apply);
        }
        if (same) return;
        setTargetContext(write, saved, now);
        write.reassessAll(now);
      });
    },

    reserve: (node, update, now) => editUpdate(node, now, (record) => reserveUpdate(record, update)),

    noteEvent(node, event, now, learned) {
      const { update } = records.all.get(node) ?? {};
      if (update && nextState(update, event)) editUpdate(node, now, (record) => noteEvent(record, event, learned));
    },

    refuse: (node, message, now) => editNode(node, now, (record) => backOff(record, message, now)),

    recreate(node, now) {
      const { update } = records.all.get(node) ?? {};
      if (!update) return;
      const { podUid, rollout } = update;
      editNode(node, now, (record) => {
        record.notInPlace = { podUid, rollout };
      });
    },

    noteImageRequest(node, revision, now) {
      editNode(node, now, (record) => {
        record.imageRequest = revision === undefined ? undefined : { revision, at: now };
      });
    },

    forgive(now) {
      const failing = [...indexes.failing];
      edit(now, ({ touch }) => {
        for (const record of failing) touch(record, now, forgive);
      });
      return failing.map((record) => record.name);
    },

    tick(now) {
      const clockWentBack = now < records.latest - CLOCK_SLACK_MS;
      edit(now, ({ touch, resetLatest, followCalendar, reassessAll, reassessDue }) => {
        if (clockWentBack) {
          resetLatest(now);
          for (const record of records.all.values()) touch(record, now, () => clampTimes(record, now));
        }
        const calendarChanged = followCalendar(planTime(now));
        if (clockWentBack || sweepDue || calendarChanged) reassessAll(now);
        sweepDue = false;
        reassessDue(now);
      });
    },
  };
};
