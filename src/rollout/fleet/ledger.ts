import { isDeepStrictEqual } from 'node:util';
import type { NodeFacts } from '../facts/node.ts';
import { isDeletedTerminal, type PodFacts } from '../facts/pod.ts';
import type { TemplateOrigin } from '../facts/template-origin.ts';
import { noteRemovedPod } from '../node/advance.ts';
import { imageParallelism } from '../node/images.ts';
import { clampTimes, type ObservedAt, observeNode, observePod } from '../node/observe.ts';
import type { NodeRecord } from '../node/record.ts';
import type { NodeUpdate } from '../node/update.ts';
import {
  backOff,
  forgive,
  inheritUpdate,
  type Learned,
  nextState,
  noteEvent,
  reserveUpdate,
  type UpdateEvent,
} from '../node/update-events.ts';
import type { Approval } from '../plan/approval.ts';
import type { StageView } from '../plan/membership.ts';
import { isFull, isStuck, type Scopes } from '../plan/scopes.ts';
import type { StageState } from '../plan/stage-state.ts';
import type { Policy } from '../policy/policy.ts';
import type { CandidateQueue } from './indexes.ts';
import { createRecords, type Edit } from './records.ts';
import { retarget } from './retarget.ts';
import type { RolloutState, TargetRevision } from './state.ts';
import type { Tally } from './tally.ts';

/** A slewed clock may step back a little. A larger jump would leave every remembered time in the future. */
const CLOCK_SLACK_MS = 1_000;

export interface LedgerOptions {
  /** Images are pulled ahead although only the manager's flag asks for it. Default false. */
  pullsByDefault?: boolean;
  /**
   * The process only displays the rollout. It sees everything once, so it takes the times that objects carry as they are.
   * Default false.
   */
  readOnly?: boolean;
  /** How far this process's clock is ahead of the API server's, ms: a plan goes by the server's. Default: not at all. */
  aheadMs?: () => number;
  /** An update of ours completed, this long after its slot was reserved. Must not throw. */
  onUpdateCompleted?: (durationMs: number) => void;
  /** The node became updated, or no longer is: others may wait for that. Must not change this ledger. */
  onOrderChanged?: (node: string) => void;
  /** A change has thrown, as its caller sees: what the ledger holds from here on is not known. */
  onFailed?: (error: unknown) => void;
}

/**
 * The state of one DaemonSet's rollout that decision, status, metrics and explanation read: a small record for each node,
 * indexed by its phase. An event changes one record.
 */
export const createLedger = (policy: Policy, options: LedgerOptions = {}) => {
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

  const setTargetContext = ({ setContext }: Edit, { target, rollout, startedAt }: RolloutState, now: number): void => {
    const { context } = records;
    const isKnown = context.rollout === rollout && context.targetHash === target?.hash;
    const targetSeenAt = isKnown ? context.targetSeenAt : firstSeenAt(now);
    setContext({ targetHash: target?.hash, rollout, startedAt, targetSeenAt });
  };

  const setState = (state: RolloutState, now: number): void =>
    edit(now, (write) => {
      const { rollout, targetHash, startedAt } = records.context;
      const { halted, current } = state;
      const restaged = state.stages !== records.state.stages || state.rollback !== records.state.rollback;
      const next = halted ? { ...state, current: { ...current, haltedAt: halted.at } } : state;
      write.setState(next);
      if (next.rollout === rollout && next.target?.hash === targetHash && next.startedAt === startedAt) {
        if (restaged) write.restage(now);
        return;
      }
      write.viewStagesAnew();
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
    get tally(): Readonly<Tally> {
      return indexes.tally;
    },
    get state(): Readonly<RolloutState> {
      return records.state;
    },
    get policy(): Policy {
      return records.policy;
    },
    /** When this process first saw the target, by its own clock. */
    get targetSeenAt(): number {
      return records.context.targetSeenAt;
    },
    /** Mean time from a reservation until the node's new pod is available, ms; undefined before the first. */
    get meanUpdateMs(): number | undefined {
      return records.meanUpdateMs;
    },
    /** Grows with every change: of two equal ones, what was decided at the first still holds at the second. */
    get changes(): number {
      return records.changes;
    },
    /**
     * Grows with every change of a node that another decision may follow from: while it stays the same, only the passing of time
     * can lead to one.
     */
    get decisive(): number {
      return records.decisive;
    },
    get size(): number {
      return records.all.size;
    },
    get: (node: string): NodeRecord | undefined => records.all.get(node),
    records: (): MapIterator<NodeRecord> => records.all.values(),
    /** Records with an update of ours that has not completed: the slots that a DaemonRollout holds. */
    withUpdate: (): ReadonlySet<NodeRecord> => indexes.withUpdate,
    /** Records whose update is not known to be carried out. */
    unconfirmed: (): ReadonlySet<NodeRecord> => indexes.unconfirmed,
    /** Records whose failure the user forgave. */
    forgiven: (): ReadonlySet<NodeRecord> => indexes.forgiven,
    /** Records that count as failures. */
    failing: (): ReadonlySet<NodeRecord> => indexes.failing,
    /** Records by the state of images that are pulled ahead. */
    images: indexes.images,
    /** How many nodes may pull images at once. */
    imageParallelism: (): number => imageParallelism(records.policy, indexes.tally, records.context.pullsByDefault),
    /** Records with an old and a new pod of which one may be deleted now. */
    withSurgedOutPod: (): ReadonlySet<NodeRecord> => indexes.withSurgedOutPod,
    /** Records whose pod's condition PodNeedUpgrade is not up to date. */
    unannounced: (): ReadonlySet<NodeRecord> => indexes.unannounced,
    /** `hasRoom`: another node of these scopes may be updated; asked each time before one is yielded. Default: always. */
    candidates: (queue: CandidateQueue, hasRoom: (scopes: Scopes) => boolean = () => true): Iterable<NodeRecord> =>
      indexes.candidates(queue, hasRoom),
    /** The number of outdated candidates whose group or stage has as many nodes down as it may. */
    waitingForRoom: (): number => indexes.countIn(isFull),
    /** There are outdated candidates, and broken nodes of closed stages keep all of them waiting by their groups. */
    waitsForStranded(): boolean {
      const waiting = indexes.countIn(isStuck);
      return waiting > 0 && waiting === indexes.countIn(() => true);
    },
    /** The stages of the plan, as far as they hold nodes back. */
    get stages(): StageView {
      return records.stages;
    },
    /** The plan's windows and freezes. */
    calendar: records.calendar,
    /** The breaker's threshold in force. */
    termsOfBreaker: records.termsOfBreaker,
    get approvals(): readonly Approval[] {
      return approvals;
    },
    /** When the earliest record changes merely because time passes; Infinity for never. */
    nextDueAt: (): number => Math.min(indexes.timers.firstTime(), records.calendar.changesAt() + aheadMs()),
    /** The time by which windows, soaks and timeouts go, epoch ms: the API server's, as far as it is known. */
    planTime,

    /**
     * All nodes and pods have been listed, and `restore` has been called. From now on the ledger takes the time of each event
     * instead of the times that objects carry, and an absent object is gone.
     */
    finishInitialSync(): void {
      sweepDue ||= records.context.initialSync;
      records.finishInitialSync();
    },

    /**
     * A node was added or updated. `existing`: only its relation to the DaemonSet is new, not its readiness, so it need not
     * settle.
     */
    setNode(facts: NodeFacts, now: number, existing = false): void {
      edit(now, ({ of, touch }) =>
        touch(of(facts.name), now, (record) => observeNode(record, facts, observedAt(now, existing))),
      );
    },

    removeNode(name: string, now: number): void {
      editNode(name, now, (record) => {
        record.node = undefined;
        record.refused = undefined;
        record.forgiven = false;
      });
    },

    /** A pod was added or updated. */
    setPod(facts: PodFacts, now: number): void {
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

    removePod(uid: string, now: number): void {
      const node = nodeOfPod.get(uid);
      nodeOfPod.delete(uid);
      if (node === undefined) return;
      editNode(node, now, (record) => {
        record.pods = record.pods.filter((pod) => pod.facts.uid !== uid);
        noteRemovedPod(record, uid, records.context);
      });
    },

    /** What people decided about stages of any revision. */
    setApprovals(next: readonly Approval[]): void {
      approvals = next;
    },

    /** Another DaemonSet's update comes first on this node; undefined: no longer. */
    setWaitsFor(node: string, daemonSet: string | undefined, now: number): void {
      if (records.all.get(node)?.waitsFor === daemonSet) return;
      editNode(node, now, (record) => {
        record.waitsFor = daemonSet;
      });
    },

    /** Changes what is known of a stage that was opened; ignores any other. */
    patchStage(name: string, change: Partial<StageState>, now: number): void {
      const { state } = records;
      const stages = state.stages.map((stage) => (stage.name === name ? { ...stage, ...change } : stage));
      setState({ ...state, stages }, now);
    },

    setPolicy(next: Policy, now: number): void {
      edit(now, ({ setPolicy, followCalendar, reassessAll }) => {
        const concernsRecords = setPolicy(next);
        const calendarChanged = followCalendar(planTime(now));
        if (concernsRecords || calendarChanged) reassessAll(now);
      });
    },

    /** `origin`: of the template, for the history. */
    setTarget(target: TargetRevision, now: number, origin?: TemplateOrigin): void {
      const { state } = records;
      const next = retarget(state, target, now, origin);
      // A revision that we rolled back was set again, for example by a GitOps tool. Rolling it out would start a cycle.
      const setAgain = next.rollout !== state.rollout && records.policy.rolledBackFrom === target.hash;
      setState(setAgain ? { ...next, halted: { at: now, reason: 'RolledBack', nodes: [] } } : next, now);
    },

    /** Images are pulled ahead although only the manager's flag asks for it: a display learns that from the pods. */
    setPullsByDefault(on: boolean, now: number): void {
      if (records.context.pullsByDefault === on) return;
      edit(now, ({ setContext, reassessAll }) => {
        setContext({ pullsByDefault: on });
        reassessAll(now);
      });
    },

    /** Changes the rollout's state, other than its target. */
    patchState(change: Partial<Omit<RolloutState, 'target' | 'rollout'>>, now: number): void {
      setState({ ...records.state, ...change }, now);
    },

    /**
     * Takes over what a DaemonRollout records: the state, the reserved slots, the forgiven nodes. It may be called before or
     * after the nodes and pods of the initial sync. Updates that this process knows keep their stage.
     */
    restore(
      saved: RolloutState,
      updates: ReadonlyMap<string, NodeUpdate>,
      forgiven: ReadonlySet<string>,
      now: number,
    ): void {
      edit(now, (write) => {
        for (const name of updates.keys()) write.of(name);
        const { rollout, targetHash, startedAt } = records.context;
        const same = saved.rollout === rollout && saved.target?.hash === targetHash && saved.startedAt === startedAt;
        write.setState(saved);
        if (same) write.restage(now);
        else write.viewStagesAnew();
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

    /** Adds a reserved slot. Its reservation has been written to the DaemonRollout. */
    reserve: (node: string, update: NodeUpdate, now: number): void =>
      editUpdate(node, now, (record) => reserveUpdate(record, update)),

    /** Something has happened to the node's update, if it has one. */
    noteEvent(node: string, event: UpdateEvent, now: number, learned?: Learned): void {
      const { update } = records.all.get(node) ?? {};
      if (update && nextState(update, event)) editUpdate(node, now, (record) => noteEvent(record, event, learned));
    },

    /** The API server refused an update: the node waits 1 s, doubling up to 5 min, while other nodes continue. */
    refuse: (node: string, message: string, now: number): void =>
      editNode(node, now, (record) => backOff(record, message, now)),

    /** The API server refuses to change the pod of the node's update in place: the update recreates it. */
    recreate(node: string, now: number): void {
      const { update } = records.all.get(node) ?? {};
      if (!update) return;
      const { podUid, rollout } = update;
      editNode(node, now, (record) => {
        record.notInPlace = { podUid, rollout };
      });
    },

    /** Records a request for images of a revision, which counts at once; undefined removes it. */
    noteImageRequest(node: string, revision: string | undefined, now: number): void {
      editNode(node, now, (record) => {
        record.imageRequest = revision === undefined ? undefined : { revision, at: now };
      });
    },

    /** The user resumed the rollout: forgives every known failure. Returns the nodes. */
    forgive(now: number): string[] {
      const failing = [...indexes.failing];
      edit(now, ({ touch }) => {
        for (const record of failing) touch(record, now, forgive);
      });
      return failing.map((record) => record.name);
    },

    /** Reassesses every record whose time has come. */
    tick(now: number): void {
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

export type Ledger = ReturnType<typeof createLedger>;
