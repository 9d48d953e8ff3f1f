import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { ApiServer, Change } from '../../../embedded/index.ts';
import { defineResource } from '../../../src/kube/index.ts';
import type { Clock, Timer } from '../../../src/runtime/index.ts';
import { HOLD_FINALIZER, HOLD_LABEL, type Workload } from './workload.ts';

const pods = defineResource<Pod>({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });

const STATE = 'lifecycle.apps.kruise.io/state';

/** Whether it is this controller's turn. The finalizer of a pod that a user deletes must be removed, too. */
const isWaiting = ({ metadata }: Pod): boolean => {
  const isHeld =
    metadata?.labels?.[HOLD_LABEL] !== undefined || metadata?.finalizers?.includes(HOLD_FINALIZER) === true;
  return isHeld && (metadata?.labels?.[STATE] === 'PreparingDelete' || metadata?.deletionTimestamp != null);
};

/** The user's controller that a preDelete hook waits for: it drains each pod for some time, and then releases it. */
export const createDrainController = (apiServer: ApiServer, time: Clock, { set, label }: Workload) => {
  let drainMs = set.hook?.drainMs;
  /** By UID of the pod. */
  const drains = new Map<string, Timer>();

  const release = (name: string): void => {
    const pod = apiServer.find<Pod>(pods, { namespace: 'default', name });
    if (!pod || !isWaiting(pod)) return;
    const finalizers = (pod.metadata?.finalizers ?? []).filter((each) => each !== HOLD_FINALIZER);
    const body = { metadata: { labels: { [HOLD_LABEL]: null }, finalizers } };
    apiServer.patch(pods, { namespace: 'default', name }, body, { type: 'merge' });
  };
  const follow = (pod: Pod): void => {
    const { uid = '', name = '' } = pod.metadata ?? {};
    if (!isWaiting(pod)) {
      drains.get(uid)?.cancel();
      drains.delete(uid);
    } else if (drainMs !== undefined && !drains.has(uid))
      drains.set(
        uid,
        time.timer(drainMs, () => {
          drains.delete(uid);
          release(name);
        }),
      );
  };
  const isOurs = ({ metadata }: Pod): boolean => metadata?.labels?.['app'] === label;

  apiServer.subscribe(({ type, resource, object }: Change) => {
    if (resource.plural !== 'pods') return;
    const pod = object as unknown as Pod;
    if (type === 'DELETED') {
      drains.get(object.metadata.uid)?.cancel();
      drains.delete(object.metadata.uid);
    } else if (isOurs(pod)) follow(pod);
  });
  return {
    /** From now on each drain takes this long; undefined: the controller is down, and running drains are lost. */
    setDrainTime(ms: number | undefined): void {
      drainMs = ms;
      for (const drain of drains.values()) drain.cancel();
      drains.clear();
      for (const pod of apiServer.list<Pod>(pods)) if (isOurs(pod)) follow(pod);
    },
  };
};
export type DrainController = ReturnType<typeof createDrainController>;
