import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { ifFound, type KubeClient, type ObjectRef, pagesOf, pods } from '../../kube/index.ts';
import {
  approvedRevision,
  type ConditionState,
  controllerOf,
  formatSelector,
  fromLabelSelector,
  imageFactsOf,
  imageReadyRemoval,
  needUpgradeOf,
  reasonOfHold,
  toTimestamp,
} from '../../rollout/index.ts';
import type { Clock } from '../../runtime/index.ts';
import { type DaemonRollout, type DaemonRolloutStatus, FIELD_MANAGER } from '../../words/index.ts';
import {
  controllingDaemonSet,
  type DaemonSetObject,
  type DaemonSetView,
  type Kind,
  ORPHAN_FINALIZER,
  selectorTooLong,
} from '../kind.ts';
import type { WriteOutcome } from '../pod-writes.ts';
import { daemonRollouts, isOrphaned, NOT_MANAGED, removeRollout, saysManaged } from '../status/daemon-rollout.ts';
import { createPodControl } from './pod-control.ts';

const MAX_IN_FLIGHT = 8;

/** Whether a field outlives the manager: the others hold only while one keeps them up to date. */
const outlives: ReadonlyMap<string, boolean> = new Map(
  Object.entries({
    observedGeneration: true,
    daemonSetGeneration: true,
    policyHash: false,
    strategy: true,
    leader: true,
    summary: true,
    target: true,
    rollout: true,
    updatesStarted: true,
    startedAt: true,
    finishedAt: true,
    firstWaveUpdatedAt: true,
    halfUpdatedAt: true,
    allNodesUpdatedAt: true,
    estimatedFinishAt: false,
    nodes: false,
    causes: false,
    budget: false,
    breaker: false,
    owners: false,
    images: false,
    failing: false,
    stragglers: false,
    conditions: true,
    halted: true,
    resumed: true,
    driftForgiven: true,
    lastComplete: true,
    reservations: true,
    forgiven: true,
    history: true,
    notifications: false,
    plan: true,
    rollback: true,
    stages: true,
  } satisfies Record<keyof DaemonRolloutStatus, boolean>),
);

/**
 * What becomes of the conditions once no manager acts. Ready goes: kstatus would wait for ever for a Ready that is not True,
 * and nobody who waits for the rollout of a DaemonSet that opted out should.
 */
const whenUnmanaged: ReadonlyMap<string, 'False' | 'Unknown' | 'removed'> = new Map(
  Object.entries({
    Ready: 'removed',
    Reconciling: 'False',
    Stalled: 'False',
    Complete: 'Unknown',
    AllNodesUpdated: 'Unknown',
    Paused: 'False',
    Halted: 'False',
    ImageDrift: 'Unknown',
  } satisfies Record<ConditionState['type'], 'False' | 'Unknown' | 'removed'>),
);

/** The status of a rollout that is no longer managed: what a later manager continues from, and nothing of the present. */
export const unmanagedStatus = (
  { metadata, status = {} }: Pick<DaemonRollout, 'metadata' | 'status'>,
  generation: number,
  { reason, summary, message }: { reason: string; summary: string; message: string },
  now: number,
): DaemonRolloutStatus => {
  const kept: DaemonRolloutStatus = Object.fromEntries(
    Object.entries(status).filter(([field]) => outlives.get(field) ?? true),
  );
  const observedGeneration = metadata.generation ?? 1;
  const daemonSetGeneration = Math.max(generation, status.daemonSetGeneration ?? 0);
  const time = toTimestamp(now);
  return {
    ...kept,
    observedGeneration,
    daemonSetGeneration,
    summary,
    conditions: (status.conditions ?? []).flatMap(({ type, status: before, lastTransitionTime: since }) => {
      const after = whenUnmanaged.get(type) ?? 'Unknown';
      if (after === 'removed') return [];
      const lastTransitionTime = before === after ? since : time;
      return [{ type, status: after, reason, message, observedGeneration, lastTransitionTime }];
    }),
  };
};

/** Some pods of a DaemonSet that is no longer managed still carry condition PodNeedUpgrade, or ask for images. */
export class ClearConditionsError extends Error {
  readonly code = 'Withdraw';
  constructor(failures: number, message: string) {
    super(`failed to remove conditions from pods, ${failures} times: ${message}`);
    this.name = 'ClearConditionsError';
  }
}

/**
 * Removes condition PodNeedUpgrade and unanswered image requests from a DaemonSet's pods, which are listed once and not
 * cached. A pod that fails does not stop the others; rejects with `ClearConditionsError` if any failed.
 */
const clearPodConditions = async (
  client: KubeClient,
  { metadata, spec }: DaemonSetObject,
  identity: string,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
): Promise<void> => {
  const { namespace = '', uid } = metadata ?? {};
  const selector = fromLabelSelector(spec?.selector ?? {});
  // Nobody ever wrote to the pods of a selector that is too long for a request.
  if (!selector.ok || selectorTooLong(formatSelector(selector.selector))) return;
  const podControl = createPodControl(client, namespace, identity, clock);
  let failures = 0;
  let lastMessage = '';

  const record = (outcome: WriteOutcome): void => {
    if (outcome.kind === 'done' || outcome.kind === 'gone') return;
    failures += 1;
    lastMessage = 'message' in outcome ? outcome.message : 'the pod has changed';
  };

  const clear = async (pod: Pod): Promise<void> => {
    const { uid: podUid = '', name: podName = '', resourceVersion = '', deletionTimestamp } = pod.metadata ?? {};
    if (deletionTimestamp || controllerOf(pod)?.uid !== uid) return;
    const images = imageFactsOf(pod);
    if (images && images.state !== 'present') {
      const body = imageReadyRemoval({ uid: podUid, resourceVersion });
      const options = { type: 'strategic', subresource: 'status' } as const;
      record(await podControl.patch({ podName, podUid }, body, options, signal));
    }
    const announced = needUpgradeOf(pod);
    if (!announced) return;
    const approved = approvedRevision(pod);
    const condition = { uid: podUid, name: podName, announced, ...(approved !== undefined && { approved }) };
    record(await podControl.announce(condition, 'none', signal));
  };

  const query = { namespace, labelSelector: formatSelector(selector.selector), signal };
  for await (const { items } of pagesOf(client, pods, query)) {
    const rest = items.values();
    const work = async (): Promise<void> => {
      for (const pod of rest) await clear(pod);
    };
    await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, work));
  }
  signal.throwIfAborted();
  if (failures > 0) throw new ClearConditionsError(failures, lastMessage);
};

const DELETED = {
  reason: reasonOfHold.deleted,
  summary: 'Being deleted',
  message: 'The DaemonSet is being deleted. Nothing is updated.',
} as const;

/**
 * Takes back what a DaemonSet that is no longer managed, its pods and its DaemonRollout say, also if that changed while no
 * manager was running. The DaemonRollout is written last: until then, the next leader tries again. While a DaemonSet is being
 * deleted, only its DaemonRollout says so. Removes one that a DaemonSet left behind when it was deleted with --cascade=orphan.
 * Writes nothing if the DaemonSet is gone (the garbage collector removes both) or is managed after all. True if it wrote.
 */
export const stopManaging = async <D extends DaemonSetObject, V extends DaemonSetView, P>(
  client: KubeClient,
  kind: Kind<D, V, P>,
  ref: ObjectRef,
  identity: string,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
): Promise<boolean> => {
  const name = kind.rolloutName(ref.name);
  if (kind.daemonSetOf(name) === undefined) {
    // It could have no DaemonRollout: only its own status says anything.
    const daemonSet = await ifFound(client.get(kind.resource, ref, { signal }));
    if (!daemonSet || kind.toView(daemonSet)) return false;
    await kind.clearStatus?.(client, daemonSet, signal);
    return false;
  }
  const rollout = await ifFound(client.get(daemonRollouts, { ...ref, name }, { signal }));
  if (!rollout || !(isOrphaned(rollout) || saysManaged(rollout.status))) return false;
  const daemonSet = await ifFound(client.get(kind.resource, ref, { signal }));
  if (isOrphaned(rollout)) {
    // A DaemonSet of the same name that is managed replaces it.
    if (daemonSet && kind.toView(daemonSet)) return false;
    await removeRollout(client, rollout, { signal });
    return true;
  }
  const { uid, deletionTimestamp, finalizers = [], generation = 0 } = daemonSet?.metadata ?? {};
  // The garbage collector is about to orphan the DaemonRollout.
  if (finalizers.includes(ORPHAN_FINALIZER)) return false;
  if (!daemonSet || uid !== controllingDaemonSet(rollout, kind.resource)?.uid) return false;
  if (!deletionTimestamp) {
    if (kind.toView(daemonSet)) return false;
    await clearPodConditions(client, daemonSet, identity, clock, signal);
    await kind.clearStatus?.(client, daemonSet, signal);
  }
  const notManaged = { reason: NOT_MANAGED, summary: 'Not managed', message: kind.notManagedMessage };
  const status = unmanagedStatus(rollout, generation, deletionTimestamp ? DELETED : notManaged, clock.now());
  const options = { subresource: 'status', fieldManager: FIELD_MANAGER, signal };
  // The garbage collector may be faster.
  return (await ifFound(client.replace(daemonRollouts, { ...rollout, status }, options))) !== undefined;
};
