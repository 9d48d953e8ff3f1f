import type { NodeFacts, PodFacts } from '../facts/types.ts';
import { isOlderVersion } from '../facts/versions.ts';
import type { Policy } from '../policy/policy.ts';
import { clampTimes, noteRemovedPod } from '../record/advance.ts';
import { imageParallelism } from '../record/images.ts';
import { observeNode, observePod } from '../record/observe.ts';
import type { NodeRecord, NodeUpdate } from '../record/record.ts';
import { backOff, forgive, inheritUpdate, releaseUpdate, reserveUpdate } from '../record/update.ts';
import type { CandidateQueue } from './indexes.ts';
import { createRecords } from './records.ts';
import { type RolloutState, retarget, type TargetRevision } from './state.ts';
import type { Tally } from './tally.ts';

export type { Tally } from './tally.ts';

/** A clock that is slewed may step back a little; a jump makes every time that we remember one in the future. */
const CLOCK_SLACK_MS = 1_000;

export interface LedgerOptions {
  /** Images are pulled ahead though only the manager's flag asks for it. Default false. */
  pullsByDefault?: boolean;
  /**
   * Nothing is done by what this process concludes, and it takes the times that others tell as they are, as it meets
   * everything at its only look. Default false.
   */
  readOnly?: boolean;
}

/**
 * The one structure of a DaemonSet that decision, status, metrics and explanation read: a small record a node, filed
 * under exactly one phase. An event touches one record.
 */
export const createLedger = (policy: Policy, { pullsByDefault = false, readOnly = false }: LedgerOptions = {}) => {
  const records = createRecords(policy, pullsByDefault);
  const { indexes, touch, propagateSums, reassessAll } = records;
  const nodeOfPod = new Map<string, string>();
  let sweepDue = false;

  const metAt = (now: number): number => (readOnly ? 0 : now);

  const aimAt = ({ target, rollout, startedAt }: RolloutState, now: number): void => {
    const { context } = records;
    const isKnown = context.rollout === rollout && context.targetHash === target?.hash;
    records.setContext({
      targetHash: target?.hash,
      rollout,
      startedAt,
      targetSeenAt: isKnown ? context.targetSeenAt : metAt(now),
    });
  };

  const retain = (next: RolloutState, now: number): void => {
    const { rollout, targetHash, startedAt } = records.context;
    records.setState(next);
    if (next.rollout === rollout && next.target?.hash === targetHash && next.startedAt === startedAt) {
      propagateSums(now);
      return;
    }
    // What was forgiven is what the revision of before did.
    if (next.rollout !== rollout) for (const record of indexes.forgiven) record.forgiven = false;
    aimAt(next, now);
    reassessAll(now);
  };

  return {
    get tally(): Readonly<Tally> {
      return indexes.tally;
    },
    get state(): Readonly<RolloutState> {
      return records.state;
    },
    get policy(): Policy {
      return records.context.policy;
    },
    /** When this process heard of the target, by its own clock. */
    get targetSeenAt(): number {
      return records.context.targetSeenAt;
    },
    /** Mean time from a reservation to the node's new pod being available, ms; undefined before the first. */
    get meanUpdateMs(): number | undefined {
      return records.meanDownMs;
    },
    get size(): number {
      return records.all.size;
    },
    get: (node: string): NodeRecord | undefined => records.all.get(node),
    records: (): MapIterator<NodeRecord> => records.all.values(),
    /** Records with an act of ours that has not healed: the slots that a DaemonRollout holds. */
    withUpdate: (): ReadonlySet<NodeRecord> => indexes.withUpdate,
    /** Records whose failure the user forgave. */
    forgiven: (): ReadonlySet<NodeRecord> => indexes.forgiven,
    /** Records whose reserved act has not been seen to be carried out. */
    unconfirmed: (): ReadonlySet<NodeRecord> => indexes.unconfirmed,
    /** Records that count as failures. */
    failing: (): ReadonlySet<NodeRecord> => indexes.failing,
    /** What is known of images that are pulled ahead. */
    images: indexes.images.known,
    /** How many nodes may pull images at once. */
    imageParallelism: (): number => imageParallelism(records.context.policy, indexes.tally, pullsByDefault),
    /** Records with an old and a new pod of which one may go now. */
    withSurgedOutPod: (): ReadonlySet<NodeRecord> => indexes.withSurgedOutPod,
    /** Records whose pod does not say what it should about its need of an upgrade. */
    unannounced: (): ReadonlySet<NodeRecord> => indexes.unannounced,
    candidates: (queue: CandidateQueue): Iterable<NodeRecord> => indexes.candidates(queue),
    /** When the earliest record changes by the passing of time alone; Infinity for never. */
    nextDueAt: (): number => indexes.timers.firstTime(),

    /**
     * Ends the first sight: all nodes and pods are in, and what `restore` took over. From here on, what changes was
     * seen to change, times are our own, and what is absent is gone.
     */
    finishInitialSync(): void {
      sweepDue ||= records.context.initialSync;
      records.setContext({ initialSync: false });
    },

    /**
     * A node appeared or changed. `wasSo`: it was as ready before, and only now has to do with the DaemonSet: it has not come
     * back, and need not settle.
     */
    setNode(facts: NodeFacts, now: number, wasSo = false): void {
      const record = records.of(facts.name);
      touch(record, now, () => observeNode(record, facts, wasSo || records.context.initialSync, now, metAt(now)));
      propagateSums(now);
    },

    removeNode(name: string, now: number): void {
      const record = records.all.get(name);
      if (!record) return;
      touch(record, now, () => {
        record.node = undefined;
        record.refused = undefined;
        record.forgiven = false;
      });
      propagateSums(now);
    },

    /** A pod appeared or changed. An older version of a pod than the one known is passed over. */
    setPod(facts: PodFacts, now: number): void {
      const before = nodeOfPod.get(facts.uid);
      if (before !== undefined && before !== facts.node) this.removePod(facts.uid, now);
      const record = records.of(facts.node);
      const known = record.pods.find((pod) => pod.facts.uid === facts.uid);
      if (known && isOlderVersion(facts.resourceVersion, known.facts.resourceVersion)) return;
      nodeOfPod.set(facts.uid, facts.node);
      touch(record, now, () => observePod(record, facts, records.context.initialSync, now, metAt(now)));
      propagateSums(now);
    },

    removePod(uid: string, now: number): void {
      const node = nodeOfPod.get(uid);
      const record = node === undefined ? undefined : records.all.get(node);
      nodeOfPod.delete(uid);
      if (!record) return;
      touch(record, now, () => {
        record.pods = record.pods.filter((pod) => pod.facts.uid !== uid);
        noteRemovedPod(record, uid, records.context);
      });
      propagateSums(now);
    },

    setPolicy(next: Policy, now: number): void {
      records.setContext({ policy: next });
      reassessAll(now);
    },

    setTarget(target: TargetRevision, now: number): void {
      const { state, context } = records;
      const next = retarget(state, target, now);
      // Set again after we rolled it back, by a GitOps tool for one: acting on it would go round in circles.
      const again = next.rollout !== state.rollout && context.policy.rolledBackFrom === target.hash;
      retain(again ? { ...next, halted: { at: now, reason: 'RolledBack', nodes: [] } } : next, now);
    },

    /** Changes what the rollout remembers, other than its target. */
    patchState(change: Partial<Omit<RolloutState, 'target' | 'rollout'>>, now: number): void {
      retain({ ...records.state, ...change }, now);
    },

    /**
     * Takes over what a DaemonRollout says: the state, the reserved slots, the forgiven nodes. Comes before or after
     * the nodes and pods of the first sight. Acts of ours that are still there keep the stage that only we know.
     */
    restore(
      saved: RolloutState,
      acts: ReadonlyMap<string, NodeUpdate>,
      pardoned: ReadonlySet<string>,
      now: number,
    ): void {
      for (const name of acts.keys()) records.of(name);
      for (const record of records.all.values()) {
        const act = acts.get(record.name);
        record.forgiven = pardoned.has(record.name);
        record.update = act && inheritUpdate(act, record.update, now);
        record.pods = record.pods.map((pod) => ({ ...pod, inherited: true }));
      }
      records.setState(saved);
      aimAt(saved, now);
      reassessAll(now);
    },

    /** Files a reserved slot. The reservation has been written to the DaemonRollout. */
    reserve(node: string, act: NodeUpdate, now: number): void {
      const record = records.of(node);
      if (record.update?.rollout !== act.rollout) records.countUpdates(1);
      touch(record, now, () => reserveUpdate(record, act));
      propagateSums(now);
    },

    setStage(node: string, stage: NodeUpdate['stage'], now: number): void {
      const record = records.all.get(node);
      if (!record?.update) return;
      touch(record, now, () => {
        if (record.update) record.update = { ...record.update, stage };
      });
    },

    /** Takes an act back that was not, and will not be, carried out; an older one that it was to repair stays. */
    release(node: string, now: number): void {
      const record = records.all.get(node);
      if (!record?.update || record.update.stage === 'done') return;
      // One that made the node's own act of this rollout good was not counted.
      const { rollout } = records.state;
      if (record.update.rollout === rollout && record.update.repairs?.rollout !== rollout) records.countUpdates(-1);
      touch(record, now, releaseUpdate);
      propagateSums(now);
    },

    /** The API server refused an act: the node waits 1 s, doubling to 5 min; the others go on. */
    refuse(node: string, message: string, now: number): void {
      const record = records.all.get(node);
      if (record) touch(record, now, () => backOff(record, message, now));
    },

    /** Notes that images of a revision are being asked for on the node, which counts at once; undefined: they are not. */
    noteImageRequest(node: string, revision: string | undefined, now: number): void {
      const record = records.all.get(node);
      if (!record) return;
      touch(record, now, () => {
        record.imageRequest = revision === undefined ? undefined : { revision, at: now };
      });
    },

    /** Forgives every failure known: the user resumed. */
    forgive(now: number): string[] {
      const pardoned = [...indexes.failing];
      for (const record of pardoned) touch(record, now, forgive);
      propagateSums(now);
      return pardoned.map((record) => record.name);
    },

    /** Looks again at every record whose time has come. */
    tick(now: number): void {
      const clockWentBack = now < records.latest - CLOCK_SLACK_MS;
      if (clockWentBack) {
        records.forgetLatest(now);
        for (const record of records.all.values()) clampTimes(record, now);
      }
      if (clockWentBack || sweepDue) reassessAll(now);
      sweepDue = false;
      records.reassessDue(now);
    },
  };
};

export type Ledger = ReturnType<typeof createLedger>;
