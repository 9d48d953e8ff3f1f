import {
  boundVersion,
  type Ledger,
  type NodeUpdate,
  type PodFacts,
  type Reason,
  type UpdateEvent,
} from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import { podWriteTexts, type RolloutEvents } from '../events/rollout-events.ts';
import type { ControllerMetrics, Enqueue, PodWrites } from '../kind-adapter.ts';
import type { PodVersion, PodWriteKind, WriteOutcome } from '../pod-writes.ts';
import { createInFlightWrites, resultOf } from './in-flight-writes.ts';

/** Updates of one DaemonSet in flight at the same time. */
const MAX_IN_FLIGHT = 16;

export interface PodUpdatesOptions {
  env: Env;
  ledger: Ledger;
  podWrites: PodWrites;
  events: RolloutEvents;
  metrics: ControllerMetrics;
  /** Called when a write has ended: time to reconcile again. */
  onWriteDone: Enqueue;
}

/**
 * Executes what was decided for single nodes, one write per node, and records the outcome in the ledger. All methods
 * return when to try again, epoch ms; Infinity if an event comes first.
 */
export const createPodUpdates = ({ env, ledger, podWrites, events, metrics, onWriteDone }: PodUpdatesOptions) => {
  const { clock, log } = env;
  /** Pods that a hook holds back, by node: the version that waits, and until when. */
  const held = new Map<string, { version: string; until: number }>();
  const writes = createInFlightWrites({
    clock,
    limit: MAX_IN_FLIGHT,
    onWriteDone,
    failed(node, error) {
      log.error('the update of a pod failed unexpectedly', { node, error });
      // The outcome is unknown: it is found out as after a lost response.
      ledger.noteEvent(node, 'lost', clock.now());
    },
  });

  const start = (
    node: string,
    pod: PodVersion,
    write: (signal: AbortSignal) => Promise<WriteOutcome>,
    then?: (outcome: WriteOutcome) => void,
  ): number => {
    const wait = held.get(node);
    if (wait?.version === pod.podResourceVersion && wait.until > clock.now()) return wait.until;
    return writes.start(node, async (signal) => {
      const outcome = await write(signal);
      if (outcome.kind === 'later') held.set(node, { version: pod.podResourceVersion, until: outcome.at });
      else held.delete(node);
      then?.(outcome);
      return resultOf(outcome);
    });
  };

  const send = async (
    kind: PodWriteKind,
    node: string,
    pod: PodVersion,
    because: Reason,
    signal: AbortSignal,
  ): Promise<WriteOutcome> => {
    const write = podWrites[kind];
    if (!write) throw new Error(`this kind of DaemonSet does not support the write ${kind}`);
    const outcome = await write(node, pod, signal);
    const result = outcome.kind === 'recreate' ? 'refused' : outcome.kind;
    metrics.podWritten?.(outcome.kind === 'done' ? podWriteTexts[kind].result : result);
    if (outcome.kind === 'done') events.podWritten(kind, pod.podName, node, because);
    if ((outcome.kind === 'recreate' || outcome.kind === 'refused') && outcome.reason !== undefined)
      events.podWriteRefused(kind, pod.podName, node, outcome.reason, outcome.message);
    if (outcome.kind === 'unsure')
      log.warn('the response to a write was lost', { write: kind, node, pod: pod.podName, error: outcome.message });
    return outcome;
  };

  /** While the response was on its way, the node's slot may have been given to another update. */
  const stillHoldsSlot = (node: string, update: NodeUpdate): boolean => {
    const current = ledger.get(node)?.update;
    return (
      current?.podUid === update.podUid &&
      current.podResourceVersion === update.podResourceVersion &&
      current.rollout === update.rollout
    );
  };

  const recordUpdate = (
    node: string,
    update: NodeUpdate,
    sent: { version: string; at: number },
    outcome: WriteOutcome,
  ): void => {
    if (!stillHoldsSlot(node, update)) return;
    const now = clock.now();
    const note = (event: UpdateEvent, begunAt?: number): void =>
      ledger.noteEvent(node, event, now, begunAt === undefined ? {} : { begunAt });
    switch (outcome.kind) {
      case 'done':
        note('confirmed');
        break;
      case 'gone':
        note('gone');
        break;
      case 'changed':
        note(outcome.pod.resourceVersion === sent.version ? 'lost' : 'outdated', outcome.begun ? sent.at : undefined);
        break;
      case 'refused':
        note(outcome.reason === undefined ? 'unsent' : 'refused');
        if (outcome.reason !== undefined) ledger.refuse(node, outcome.message, now);
        break;
      case 'recreate':
        // In the slot that it has.
        note('unsent');
        ledger.recreate(node, now);
        break;
      case 'unsure':
        note('lost');
        break;
      case 'later':
        note('unsent');
        break;
    }
  };

  const recordFence = (node: string, update: NodeUpdate, outcome: WriteOutcome): void => {
    metrics.podWritten?.(outcome.kind === 'done' ? 'fenced' : outcome.kind);
    if (outcome.kind === 'refused' && outcome.reason !== undefined)
      events.fenceRefused(update.podName, node, outcome.reason, outcome.message);
    if (!stillHoldsSlot(node, update)) return;
    const changed = outcome.kind === 'changed' && outcome.pod.resourceVersion !== update.podResourceVersion;
    const deleted = update.kind === undefined && 'pod' in outcome && outcome.pod?.terminating;
    // Deleted by the update that is fenced, or by somebody else.
    if (outcome.kind === 'gone' || deleted) ledger.noteEvent(node, 'gone', clock.now());
    else if (outcome.kind === 'done' || changed) ledger.noteEvent(node, 'released', clock.now());
  };

  /** The update that the node's slot is reserved for, as it is before the write. */
  const reservedFor = (node: string): NodeUpdate | undefined => {
    const update = ledger.get(node)?.update;
    return update && { ...update };
  };

  return {
    /** Executes the update that the node's slot is reserved for, on the pod that it is reserved for. */
    update(node: string, kind: Exclude<PodWriteKind, 'delete-old'>, because: Reason): number {
      const update = reservedFor(node);
      const record = ledger.get(node);
      if (!update || !record) return Number.POSITIVE_INFINITY;
      const at = clock.now();
      const version = boundVersion(record, at) ?? update.podResourceVersion;
      const pod = { podName: update.podName, podUid: update.podUid, podResourceVersion: version };
      const write = (signal: AbortSignal): Promise<WriteOutcome> => {
        ledger.noteEvent(node, 'sent', clock.now());
        return send(kind, node, pod, because, signal);
      };
      return start(node, pod, write, (outcome) => recordUpdate(node, update, { version, at }, outcome));
    },
    /** Deletes the pod that a new one has replaced: it needs no slot of its own, it uses the one of the surge. */
    deleteOld(node: string, { name: podName, uid: podUid, resourceVersion: podResourceVersion }: PodFacts): number {
      const pod = { podName, podUid, podResourceVersion };
      return start(node, pod, (signal) => send('delete-old', node, pod, 'surged-out', signal));
    },
    /** Makes sure that the reserved update can no longer be executed by anyone, then frees its slot. */
    fence(node: string): number {
      const update = reservedFor(node);
      if (!update) return Number.POSITIVE_INFINITY;
      return start(
        node,
        update,
        (signal) => podWrites.fence(node, update, signal),
        (outcome) => recordFence(node, update, outcome),
      );
    },
    /** Reservations stay on record, so that the next leader finds out what became of writes that were given up. */
    drain: writes.drain,
  };
};
