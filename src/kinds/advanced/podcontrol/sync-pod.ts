import type { ReconcilerContext, WriteOutcome } from '../../../controller/index.ts';
import { isCarriedOut, isStale } from '../../../rollout/index.ts';
import { errorText } from '../../../runtime/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { controllerRef } from '../api/types.ts';
import { cancelDelete } from '../lifecycle/pre-delete.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';
import type { CachedPod } from './cached-pod.ts';
import type { MaintenanceWriter } from './maintenance-writer.ts';
import { mayAdopt } from './may-adopt.ts';
import { type InPlaceTarget, type PodOperations, versionOf } from './pod-operations.ts';
import { initialGatePatch, unsetGates } from './readiness-gates.ts';

export interface PodSyncOptions
  extends Pick<ReconcilerContext<AdvancedView, CachedPod>, 'client' | 'env' | 'ledger' | 'events'> {
  operations: PodOperations;
  writer: MaintenanceWriter;
}

const NEVER = Number.POSITIVE_INFINITY;

type Write = (signal: AbortSignal) => Promise<WriteOutcome>;
type Need =
  | { kind: 'write'; write: Write; refused?: (reason: string, message: string) => void }
  /** Recheck at this time, epoch ms. */
  | { kind: 'recheck'; at: number }
  /** The rollout is about to write to the pod. */
  | { kind: 'rollout' };

export interface PodSync {
  /**
   * Starts the write that the pod needs, as it was at `now`. Returns when to recheck it, epoch ms; undefined: at the next
   * reconcile.
   */
  sync(
    view: AdvancedView,
    cached: CachedPod,
    current: CurrentRevision | undefined,
    removing: boolean,
    now: number,
  ): number | undefined;
  /**
   * Only returns a pod to service that was prepared for its deletion (if it `stays`), or for an in-place update. Same
   * result as `sync`.
   */
  returnToService(cached: CachedPod, last: CurrentRevision | undefined, stays: boolean): number | undefined;
}

/** Syncs pods that stay: adoption, readiness gates, the remaining steps of an in-place update, a cancelled deletion. */
export const createPodSync = ({ client, env, ledger, events, operations, writer }: PodSyncOptions): PodSync => {
  const { clock } = env;
  /** Whether the DaemonSet may adopt, as read at or after this time: the orphans were observed before. */
  let adoption: { asOf: number; may: Promise<boolean> } | undefined;

  const mayAdoptAsOf = (asOf: number, view: AdvancedView, signal: AbortSignal): Promise<boolean> => {
    if (!adoption || adoption.asOf < asOf) adoption = { asOf, may: mayAdopt(client, view, signal) };
    return adoption.may;
  };

  const patch = (cached: CachedPod, kind: 'pod' | 'status', body: object): Need => ({
    kind: 'write',
    write: (signal) => operations.patch(versionOf(cached), { kind, body }, signal),
  });

  const adopt = (view: AdvancedView, cached: CachedPod, now: number): Need => {
    const { uid, name, node, resourceVersion } = cached.facts;
    const ownerReferences = [...(cached.pod.metadata?.ownerReferences ?? []), controllerRef(view)];
    const body = { metadata: { uid, resourceVersion, ownerReferences } };
    const write: Write = async (signal) => {
      try {
        if (await mayAdoptAsOf(now, view, signal))
          return await operations.patch(versionOf(cached), { kind: 'pod', body }, signal);
        return { kind: 'refused', reason: undefined, message: 'the DaemonSet is being deleted' };
      } catch (error) {
        return { kind: 'refused', reason: undefined, message: errorText(error) };
      }
    };
    const refused = (reason: string, message: string): void =>
      events.warnOnce(
        `adopt ${uid} ${reason}`,
        'FailedAdopt',
        'Adopt',
        `Failed to adopt pod ${name} on ${node}, which the selector matches and nothing controls: ${message}`,
      );
    return { kind: 'write', write, refused };
  };

  /**
   * A pod that is out of service for an in-place update and has no open update in the rollout: its update to the revision
   * that it carries is completed. A pod that was only prepared for an update returns to service this way.
   */
  const inPlaceTargetOf = ({ facts }: CachedPod, current: CurrentRevision): InPlaceTarget | undefined => {
    const record = ledger.get(facts.node);
    const stale = record !== undefined && isStale(record, { facts });
    return facts.updatingInPlace && !stale ? { revision: facts.revision, current } : undefined;
  };

  const completeInPlace = (cached: CachedPod, current: CurrentRevision): Need | undefined => {
    const target = inPlaceTargetOf(cached, current);
    if (!target) return undefined;
    const step = operations.inPlaceStep(cached, target);
    if (step.kind === 'done') return undefined;
    if (step.kind === 'wait') return { kind: 'recheck', at: step.until };
    const { name, node } = cached.facts;
    const refused = (reason: string, message: string): void =>
      events.podWriteRefused('update-in-place', name, node, reason, message);
    if (step.kind === 'stuck') {
      refused('Stuck', step.why);
      return { kind: 'recheck', at: NEVER };
    }
    return { kind: 'write', write: (signal) => operations.writeInPlaceStep(cached, step, signal), refused };
  };

  /** Does the rollout have a pending update of the pod, or is the pod the old one of a surge? */
  const isRolloutsTurn = ({ facts }: CachedPod): boolean => {
    const record = ledger.get(facts.node);
    const { update } = record ?? {};
    return (update?.podUid === facts.uid && !isCarriedOut(update)) || record?.status.surgedOutPod?.uid === facts.uid;
  };

  const needOf = (
    view: AdvancedView,
    cached: CachedPod,
    current: CurrentRevision | undefined,
    removing: boolean,
    now: number,
  ): Need | undefined => {
    const { ownership, facts, pod } = cached;
    if (ownership === 'other' || facts.terminating) return undefined;
    if (ownership === 'orphan') return adopt(view, cached, now);
    const rolloutsTurn = !removing && isRolloutsTurn(cached);
    // An in-place update closes the gate first. Opening it here would undo that, whatever version the pod has by then.
    if (!rolloutsTurn && unsetGates(pod).length > 0) return patch(cached, 'status', initialGatePatch(pod, clock.now()));
    if (removing) return undefined;
    if (rolloutsTurn) return { kind: 'rollout' };
    // Cancel the deletion first: an in-place update that never completes would keep the pod prepared, and its node blocked.
    const cancel = cancelDelete(pod, clock.now());
    if (cancel) return patch(cached, cancel.kind, cancel.body);
    return current && completeInPlace(cached, current);
  };

  const fulfill = (cached: CachedPod, need: Need | undefined): number | undefined => {
    if (need === undefined) return NEVER;
    if (need.kind === 'rollout') return undefined;
    if (need.kind === 'recheck') return need.at;
    const nextWriteAt = writer.nextWriteAt(cached);
    if (nextWriteAt > clock.now()) return nextWriteAt;
    writer.start(cached, need.write, (outcome) => {
      if (outcome.kind === 'refused' && outcome.reason !== undefined) need.refused?.(outcome.reason, outcome.message);
    });
    return undefined;
  };

  /** Reports once for each pod that the scheduler can't place it. */
  const reportUnschedulable = ({ ownership, facts }: CachedPod): void => {
    const { uid, name, node, unbound, terminating, detail } = facts;
    if (ownership !== 'ours' || !unbound || terminating || detail === '') return;
    const surging = ledger.get(node)?.pods.some((pod) => pod.facts.uid !== uid && !pod.facts.terminating);
    const where = `${node}${surging ? ' next to the old pod' : ''}`;
    events.warnOnce(
      `place ${uid}`,
      'FailedPlacement',
      'Place',
      `Pod ${name} cannot be scheduled on ${where}: ${detail}.`,
    );
  };

  return {
    sync(view, cached, current, removing, now) {
      reportUnschedulable(cached);
      return fulfill(cached, needOf(view, cached, current, removing, now));
    },
    returnToService(cached, last, stays) {
      if (cached.ownership !== 'ours' || cached.facts.terminating) return NEVER;
      if (isRolloutsTurn(cached)) return fulfill(cached, { kind: 'rollout' });
      const cancel = stays ? cancelDelete(cached.pod, clock.now()) : undefined;
      if (cancel) return fulfill(cached, patch(cached, cancel.kind, cancel.body));
      return fulfill(cached, last && completeInPlace(cached, last));
    },
  };
};
