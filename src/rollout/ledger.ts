import { advance, noteLostNewPod, noteRevision, setBack } from './advance.ts';
import { assess } from './assess.ts';
import { breakerOf } from './breaker.ts';
import { createCandidates, createTurns } from './candidates.ts';
import type { NodeFacts, PodFacts } from './facts.ts';
import { createImageBook } from './image-book.ts';
import { imageParallelism } from './image-need.ts';
import { createMembership } from './partition.ts';
import type { Policy } from './policy.ts';
import { type Act, asPast, type Context, isShut, type NodeRecord, newRecord, pastAct, type View } from './record.ts';
import { newState, type RolloutState, retarget, type TargetRevision } from './state.ts';
import { addTo, newTally, type Tally } from './tally.ts';
import { olderThan } from './versions.ts';

export type { Tally } from './tally.ts';

/**
 * The queues of candidates: `repair` are nodes that an older act of ours broke (they use the slot that they hold),
 * `broken` are others whose old pod is down, `outdated` have a healthy old pod.
 */
export type Queue = 'repair' | 'broken' | 'outdated';

const queueOf = (view: View): Queue | undefined => {
  if (view.asked) return undefined;
  if (view.phase === 'broken') return view.inFlight ? 'repair' : 'broken';
  return view.phase === 'outdated' ? 'outdated' : undefined;
};

/** One step of an exponential average: the first sample stands for all before it. */
const blend = (mean: number | undefined, sample: number): number =>
  mean === undefined ? sample : mean + (sample - mean) / 16;

/** A clock that is slewed may step back a little; a jump makes every time that we remember one in the future. */
const CLOCK_SLACK_MS = 1_000;

/** An act that a DaemonRollout tells of, where `known` is what this process knew of the node. */
const takeOver = (act: Act, known: Act | undefined, now: number): Act => {
  const at = Math.min(act.at, now);
  const same =
    known?.podUid === act.podUid &&
    known.kind === act.kind &&
    known.rollout === act.rollout &&
    (known.stage === 'done' || known.podResourceVersion === act.podResourceVersion);
  // A reservation that was ours alone may meanwhile have been taken over, and carried out, by another process.
  if (same) {
    const stage = known.stage === 'reserved' ? 'inherited' : known.stage;
    return { ...act, at, stage, podResourceVersion: (act.stage === 'done' ? act : known).podResourceVersion };
  }
  return { ...act, at, stage: act.stage === 'done' ? 'done' : 'inherited' };
};

/**
 * The one structure of a DaemonSet that decision, status, metrics and explanation read: a small record a node, filed
 * under exactly one phase. An event touches one record. `pullsByDefault`: images are pulled ahead though only the manager's
 * flag asks for it.
 */
export const createLedger = (policy: Policy, pullsByDefault = false) => {
  const records = new Map<string, NodeRecord>();
  const nodeOfPod = new Map<string, string>();
  const timers = createTurns();
  const queues = { repair: createCandidates(), broken: createCandidates(), outdated: createCandidates() };
  const acting = new Set<NodeRecord>();
  const openActs = new Set<NodeRecord>();
  const forgiven = new Set<NodeRecord>();
  const failing = new Set<NodeRecord>();
  const unannounced = new Set<NodeRecord>();
  const retiring = new Set<NodeRecord>();
  const images = createImageBook();
  const busyZones = new Map<string, number>();
  const membership = createMembership();
  const tally = newTally();
  let state = newState();
  let context: Context = {
    policy,
    targetHash: undefined,
    rollout: 0,
    startedAt: undefined,
    withheld: false,
    firstSight: true,
    pullsByDefault,
    halted: false,
  };
  let sweepDue = false;
  let latest = Number.NEGATIVE_INFINITY;
  let meanDownMs: number | undefined;

  const countZone = (zone: string, by: 1 | -1): void => {
    const busy = (busyZones.get(zone) ?? 0) + by;
    if (busy === 0) busyZones.delete(zone);
    else busyZones.set(zone, busy);
  };

  const unfile = (record: NodeRecord): void => {
    const { view } = record;
    addTo(tally, view, -1);
    membership.leave(record);
    const queue = queueOf(view);
    if (queue) queues[queue].remove(record, view.zone);
    if (view.dueAt < Number.POSITIVE_INFINITY) timers.remove(record);
    if (view.inFlight) countZone(view.zone, -1);
    acting.delete(record);
    openActs.delete(record);
    failing.delete(record);
    unannounced.delete(record);
    retiring.delete(record);
    images.leave(record);
    forgiven.delete(record);
  };

  const file = (record: NodeRecord): void => {
    const { view } = record;
    addTo(tally, view, 1);
    membership.enter(record);
    const queue = queueOf(view);
    if (queue) queues[queue].add(record);
    if (view.dueAt < Number.POSITIVE_INFINITY) timers.add(record, view.dueAt);
    if (view.inFlight) countZone(view.zone, 1);
    if (record.act) acting.add(record);
    if (record.act && record.act.stage !== 'done') openActs.add(record);
    if (record.forgiven) forgiven.add(record);
    if (view.failure) failing.add(record);
    if (view.announce) unannounced.add(record);
    if (view.retire) retiring.add(record);
    images.enter(record);
  };

  /** Changes a record and files it anew: the only way in. */
  const touch = (record: NodeRecord, now: number, change: (record: NodeRecord) => void): void => {
    latest = Math.max(latest, now);
    unfile(record);
    change(record);
    if (noteRevision(record, context)) state = { ...state, acted: state.acted + 1 };
    const healed = advance(record, context, now);
    if (healed && healed.podUid !== '') meanDownMs = blend(meanDownMs, now - healed.at);
    record.view = assess(record, context, now);
    if (!record.node && record.pods.length === 0 && !record.act) records.delete(record.name);
    else file(record);
  };

  const nothing = (): void => undefined;

  const reassessAll = (now: number): void => {
    for (const record of records.values()) touch(record, now, nothing);
    redraw(now);
  };

  /** Brings what follows from the sums of all records back to every record. */
  const redraw = (now: number): void => {
    for (;;) {
      const change = membership.next(context.policy, tally);
      if (!change) break;
      const [record, member] = change;
      touch(record, now, () => {
        record.member = member;
      });
    }
    const stopped = state.halted !== undefined || breakerOf(context.policy, tally, state.acted, 0).open;
    const withheld = context.policy.strategy === 'ota' && stopped;
    const halted = state.halted !== undefined;
    if (withheld === context.withheld && halted === context.halted) return;
    context = { ...context, withheld, halted };
    reassessAll(now);
  };

  const recordOf = (name: string): NodeRecord => {
    const known = records.get(name);
    if (known) return known;
    const record = newRecord(name);
    record.member = membership.isMember(name);
    records.set(name, record);
    return record;
  };

  const retain = (next: RolloutState, now: number): void => {
    const sameRollout = next.rollout === context.rollout;
    state = next;
    if (sameRollout && next.target?.hash === context.targetHash && next.startedAt === context.startedAt) {
      redraw(now);
      return;
    }
    // What was forgiven is what the revision of before did.
    if (!sameRollout) for (const record of forgiven) record.forgiven = false;
    context = { ...context, targetHash: next.target?.hash, rollout: next.rollout, startedAt: next.startedAt };
    reassessAll(now);
  };

  return {
    get tally(): Readonly<Tally> {
      return tally;
    },
    get state(): Readonly<RolloutState> {
      return state;
    },
    get policy(): Policy {
      return context.policy;
    },
    /** Mean time from a reservation to the node's new pod being available, ms; undefined before the first. */
    get meanDownMs(): number | undefined {
      return meanDownMs;
    },
    get size(): number {
      return records.size;
    },
    get: (node: string): NodeRecord | undefined => records.get(node),
    records: (): MapIterator<NodeRecord> => records.values(),
    /** Records with an act of ours that has not healed: the slots that a DaemonRollout holds. */
    acting: (): ReadonlySet<NodeRecord> => acting,
    /** Records whose failure the user forgave. */
    forgiven: (): ReadonlySet<NodeRecord> => forgiven,
    /** Records whose reserved act has not been seen to be carried out. */
    openActs: (): ReadonlySet<NodeRecord> => openActs,
    /** Records that count as failures. */
    failing: (): ReadonlySet<NodeRecord> => failing,
    /** What is known of images that are pulled ahead. */
    images: images.known,
    /** How many nodes may pull images at once. */
    imageParallelism: (): number => imageParallelism(context.policy, tally, context.pullsByDefault),
    /** Records with an old and a new pod of which one may go now. */
    retiring: (): ReadonlySet<NodeRecord> => retiring,
    /** Records whose pod does not say what it should about its need of an upgrade. */
    unannounced: (): ReadonlySet<NodeRecord> => unannounced,
    candidates: (queue: Queue): Iterable<NodeRecord> => queues[queue].inOrder((zone) => busyZones.get(zone) ?? 0),
    /** When the earliest record changes by the passing of time alone; Infinity for never. */
    nextDueAt: (): number => timers.firstTime(),

    /**
     * Ends the first sight: all nodes and pods are in, and what `restore` took over. From here on, what changes was
     * seen to change, times are our own, and what is absent is gone.
     */
    firstSightOver(): void {
      sweepDue ||= context.firstSight;
      context = { ...context, firstSight: false };
    },

    /** A node appeared or changed. */
    setNode(facts: NodeFacts, now: number): void {
      const record = recordOf(facts.name);
      touch(record, now, () => {
        const { node: before } = record;
        const changed =
          before === undefined || before.ready !== facts.ready || before.readyChangedAt !== facts.readyChangedAt;
        if (changed) record.since = context.firstSight && !before ? Math.min(facts.readyChangedAt, now) : now;
        record.node = facts;
      });
      redraw(now);
    },

    removeNode(name: string, now: number): void {
      const record = records.get(name);
      if (!record) return;
      touch(record, now, () => {
        record.node = undefined;
        record.refused = undefined;
        record.forgiven = false;
      });
      redraw(now);
    },

    /** A pod appeared or changed. An older version of a pod than the one known is passed over. */
    setPod(facts: PodFacts, now: number): void {
      const before = nodeOfPod.get(facts.uid);
      if (before !== undefined && before !== facts.node) this.removePod(facts.uid, now);
      const record = recordOf(facts.node);
      const known = record.pods.find((pod) => pod.facts.uid === facts.uid);
      if (known && olderThan(facts.resourceVersion, known.facts.resourceVersion)) return;
      nodeOfPod.set(facts.uid, facts.node);
      touch(record, now, () => {
        const wasReady = known?.facts.ready && known.facts.readyChangedAt === facts.readyChangedAt;
        const inherited = context.firstSight && !known;
        const seenReady = inherited ? Math.min(facts.readyChangedAt, now) : now;
        const readySince = !facts.ready ? 0 : wasReady ? known.readySince : seenReady;
        if (inherited && record.pods.length === 0 && !facts.ready)
          record.downSince = Math.min(Math.max(facts.createdAt, facts.readyChangedAt), now);
        const seenAt = known?.seenAt ?? (inherited ? Math.min(facts.createdAt, now) : now);
        const pod = { facts, readySince, seenAt, inherited: known?.inherited ?? inherited };
        record.pods = known ? record.pods.map((other) => (other === known ? pod : other)) : [...record.pods, pod];
      });
      redraw(now);
    },

    removePod(uid: string, now: number): void {
      const node = nodeOfPod.get(uid);
      const record = node === undefined ? undefined : records.get(node);
      nodeOfPod.delete(uid);
      if (!record) return;
      touch(record, now, () => {
        record.pods = record.pods.filter((pod) => pod.facts.uid !== uid);
        noteLostNewPod(record, uid, context);
      });
      redraw(now);
    },

    setPolicy(next: Policy, now: number): void {
      context = { ...context, policy: next };
      reassessAll(now);
    },

    setTarget(target: TargetRevision, now: number): void {
      const next = retarget(state, target, now);
      // Set again after we rolled it back, by a GitOps tool for one: acting on it would go round in circles.
      const again = next.rollout !== state.rollout && context.policy.rolledBackFrom === target.hash;
      retain(again ? { ...next, halted: { at: now, reason: 'RolledBack', nodes: [] } } : next, now);
    },

    /** Changes what the rollout remembers, other than its target. */
    amend(change: Partial<Omit<RolloutState, 'target' | 'rollout'>>, now: number): void {
      retain({ ...state, ...change }, now);
    },

    /**
     * Takes over what a DaemonRollout says: the state, the reserved slots, the forgiven nodes. Comes before or after
     * the nodes and pods of the first sight. Acts of ours that are still there keep the stage that only we know.
     */
    restore(saved: RolloutState, acts: ReadonlyMap<string, Act>, pardoned: ReadonlySet<string>, now: number): void {
      for (const name of acts.keys()) recordOf(name);
      for (const record of records.values()) {
        const act = acts.get(record.name);
        record.forgiven = pardoned.has(record.name);
        record.act = act && takeOver(act, record.act, now);
        record.pods = record.pods.map((pod) => ({ ...pod, inherited: true }));
      }
      state = saved;
      context = {
        ...context,
        targetHash: saved.target?.hash,
        rollout: saved.rollout,
        startedAt: saved.startedAt,
      };
      reassessAll(now);
    },

    /** Files a reserved slot. The reservation has been written to the DaemonRollout. */
    reserve(node: string, act: Act, now: number): void {
      const record = recordOf(node);
      if (record.act?.rollout !== act.rollout) state = { ...state, acted: state.acted + 1 };
      touch(record, now, () => {
        const { act: before } = record;
        const repairs = before?.stage === 'done' ? asPast(before) : before?.repairs;
        record.act = repairs ? { ...act, repairs } : act;
      });
      redraw(now);
    },

    setStage(node: string, stage: Act['stage'], now: number): void {
      const record = records.get(node);
      if (!record?.act) return;
      touch(record, now, () => {
        if (record.act) record.act = { ...record.act, stage };
      });
    },

    /** Takes an act back that was not, and will not be, carried out; an older one that it was to repair stays. */
    release(node: string, now: number): void {
      const record = records.get(node);
      if (!record?.act || record.act.stage === 'done') return;
      // One that made the node's own act of this rollout good was not counted.
      if (record.act.rollout === state.rollout && record.act.repairs?.rollout !== state.rollout)
        state = { ...state, acted: Math.max(0, state.acted - 1) };
      touch(record, now, () => {
        const { act } = record;
        // A pod that the first write of the act took out of service is as one that an older act broke.
        const begun = act && isShut(record) ? { rollout: act.rollout - 1, at: act.at } : undefined;
        const stays = act?.repairs ?? begun;
        record.act = stays && pastAct(stays);
      });
      redraw(now);
    },

    /** The API server refused an act: the node waits 1 s, doubling to 5 min; the others go on. */
    refuse(node: string, message: string, now: number): void {
      const record = records.get(node);
      if (!record) return;
      touch(record, now, () => {
        const tries = (record.refused?.tries ?? 0) + 1;
        record.refused = { tries, message, until: now + Math.min(300_000, 1_000 * 2 ** (tries - 1)) };
      });
    },

    /** Notes that images of a revision are being asked for on the node, which counts at once; undefined: they are not. */
    noteAsk(node: string, revision: string | undefined, now: number): void {
      const record = records.get(node);
      if (!record) return;
      touch(record, now, () => {
        record.asking = revision === undefined ? undefined : { revision, at: now };
      });
    },

    /** Forgives every failure known: the user resumed. */
    forgive(now: number): string[] {
      const pardoned = [...failing];
      for (const record of pardoned)
        touch(record, now, () => {
          record.forgiven = true;
          // To be tried once more, as after a new template: in its own slot should it be down.
          const { act, view } = record;
          if (act && view.cause === 'came-back-old') record.act = pastAct({ rollout: act.rollout - 1, at: act.at });
        });
      redraw(now);
      return pardoned.map((record) => record.name);
    },

    /** Looks again at every record whose time has come. */
    tick(now: number): void {
      const clockWentBack = now < latest - CLOCK_SLACK_MS;
      if (clockWentBack) latest = now;
      if (clockWentBack) for (const record of records.values()) setBack(record, now);
      if (clockWentBack || sweepDue) reassessAll(now);
      sweepDue = false;
      while (timers.firstTime() <= now) {
        const [record] = timers.inOrder();
        if (!record) break;
        touch(record, now, nothing);
      }
      redraw(now);
    },
  };
};

export type Ledger = ReturnType<typeof createLedger>;
