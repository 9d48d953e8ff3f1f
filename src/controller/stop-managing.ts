import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { ifFound, type KubeClient, type ObjectRef, pagesOf, pods } from '../kube/index.ts';
import {
  approvedRevision,
  controllerOf,
  type DaemonRolloutStatus,
  formatSelector,
  fromLabelSelector,
  imageFactsOf,
  imageReadyRemoval,
  needUpgradeOf,
  toTimestamp,
} from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import { daemonRollouts, FIELD_MANAGER, NOT_MANAGED, saysManaged } from './daemon-rollout.ts';
import { controllingDaemonSet, type DaemonSetObject, type DaemonSetView, type Kind } from './kind.ts';
import { createPodControl, type WriteOutcome } from './pod-control.ts';

const MAX_IN_FLIGHT = 8;

/** Fields that hold only while a manager keeps them up to date. */
const presentFields: ReadonlySet<string> = new Set<keyof DaemonRolloutStatus>([
  'policyHash',
  'nodes',
  'causes',
  'budget',
  'breaker',
  'failing',
  'owners',
  'images',
  'estimatedFinishAt',
]);

/** Conditions that are False once no manager acts; the others are Unknown. */
const falseWhenUnmanaged: ReadonlySet<string> = new Set(['Reconciling', 'Stalled', 'Paused', 'Halted']);

/** The status of a rollout that is no longer managed: what a later manager continues from, and nothing of the present. */
export const unmanagedStatus = (
  status: DaemonRolloutStatus,
  generation: number,
  message: string,
  now: number,
): DaemonRolloutStatus => {
  const kept: DaemonRolloutStatus = Object.fromEntries(
    Object.entries(status).filter(([field]) => !presentFields.has(field)),
  );
  const observedGeneration = Math.max(generation, status.observedGeneration ?? 0);
  const time = toTimestamp(now);
  return {
    ...kept,
    observedGeneration,
    summary: 'Not managed',
    conditions: (status.conditions ?? []).map(({ type, status: before, lastTransitionTime: since }) => {
      const after = falseWhenUnmanaged.has(type) ? 'False' : 'Unknown';
      const lastTransitionTime = before === after ? since : time;
      return { type, status: after, reason: NOT_MANAGED, message, observedGeneration, lastTransitionTime };
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
  if (!selector.ok) return;
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

/**
 * Takes back what the pods and the DaemonRollout of a DaemonSet say that is no longer managed, also if that changed while
 * no manager was running. The DaemonRollout is written last: until then, the next leader tries again. Writes nothing if
 * the DaemonSet is gone (the garbage collector removes both) or is managed after all. True if it wrote.
 */
export const stopManaging = async <D extends DaemonSetObject, V extends DaemonSetView, P>(
  client: KubeClient,
  kind: Kind<D, V, P>,
  ref: ObjectRef,
  identity: string,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
): Promise<boolean> => {
  const rollout = await ifFound(client.get(daemonRollouts, { ...ref, name: kind.rolloutName(ref.name) }, { signal }));
  if (!rollout?.status || !saysManaged(rollout.status)) return false;
  const daemonSet = await ifFound(client.get(kind.resource, ref, { signal }));
  const { uid, deletionTimestamp, generation = 0 } = daemonSet?.metadata ?? {};
  if (!daemonSet || deletionTimestamp || uid !== controllingDaemonSet(rollout, kind.resource)?.uid) return false;
  if (kind.toView(daemonSet)) return false;
  await clearPodConditions(client, daemonSet, identity, clock, signal);
  const status = unmanagedStatus(rollout.status, generation, kind.notManagedMessage, clock.now());
  const options = { subresource: 'status', fieldManager: FIELD_MANAGER, signal };
  await client.replace(daemonRollouts, { ...rollout, status }, options);
  return true;
};
