import { ifFound, type KubeClient, type ObjectRef } from '../kube/index.ts';
import { type DaemonRolloutStatus, toTimestamp } from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import { NOT_MANAGED, saysManaged } from './daemon-rollout.ts';
import { controllingDaemonSet, type DaemonSetObject, type DaemonSetView, type Kind } from './kind.ts';
import { daemonRollouts } from './resources.ts';
import { FIELD_MANAGER } from './rollout-object.ts';
import { clearPodConditions } from './withdraw.ts';

/** What only holds while somebody keeps it up to date. */
const ofThePresent: ReadonlySet<string> = new Set<keyof DaemonRolloutStatus>([
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

/** Which conditions are known to be false once nobody acts; of the others nobody knows. */
const known: ReadonlySet<string> = new Set(['Reconciling', 'Stalled', 'Paused', 'Halted']);

/** The status of a rollout that nobody looks after: what a successor goes on from, and no word about the present. */
export const unmanagedStatus = (
  status: DaemonRolloutStatus,
  generation: number,
  message: string,
  now: number,
): DaemonRolloutStatus => {
  const kept: DaemonRolloutStatus = Object.fromEntries(
    Object.entries(status).filter(([field]) => !ofThePresent.has(field)),
  );
  const observedGeneration = Math.max(generation, status.observedGeneration ?? 0);
  const time = toTimestamp(now);
  return {
    ...kept,
    observedGeneration,
    summary: 'Not managed',
    conditions: (status.conditions ?? []).map((condition) => {
      const verdict = known.has(condition.type) ? 'False' : 'Unknown';
      const lastTransitionTime = condition.status === verdict ? condition.lastTransitionTime : time;
      const { type } = condition;
      return { type, status: verdict, reason: NOT_MANAGED, message, observedGeneration, lastTransitionTime };
    }),
  };
};

/**
 * Takes back what a DaemonRollout says of a DaemonSet that is not served any more, and what its pods were told, also when that was
 * while nobody was running. The object speaks last: until it does, whoever comes next tries again. Writes nothing when
 * the DaemonSet is gone (the garbage collector removes both) or is managed after all. True when it wrote.
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
  const how = { subresource: 'status', fieldManager: FIELD_MANAGER, signal };
  await client.replace(daemonRollouts, { ...rollout, status }, how);
  return true;
};
