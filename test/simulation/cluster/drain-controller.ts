import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { defineResource } from '../../../src/kube/index.ts';
import type { Clock, Timer } from '../../../src/runtime/index.ts';
import type { ApiServer, Change } from '../../../src/sim/index.ts';
import { HOLD_FINALIZER, HOLD_LABEL, type Workload } from './workload.ts';

const pods = defineResource<Pod>({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });

const STATE = 'lifecycle.apps.kruise.io/state';

/** Is it this controller's turn? Of a pod that somebody deletes its finalizer must go, too. */
const isAsked = ({ metadata }: Pod): boolean => {
  const isHeld =
    metadata?.labels?.[HOLD_LABEL] !== undefined || metadata?.finalizers?.includes(HOLD_FINALIZER) === true;
  return isHeld && (metadata?.labels?.[STATE] === 'PreparingDelete' || metadata?.deletionTimestamp != null);
};

/** The user's controller that a preDelete hook waits for: it takes its time for each pod, and then lets it go. */
export const createDrainController = (apiServer: ApiServer, time: Clock, { set, label }: Workload) => {
  let drainMs = set.hook?.drainMs;
  /** By UID. */
  const turns = new Map<string, Timer>();

  const letGo = (name: string): void => {
    const pod = apiServer.find<Pod>(pods, { namespace: 'default', name });
    if (!pod || !isAsked(pod)) return;
    const finalizers = (pod.metadata?.finalizers ?? []).filter((each) => each !== HOLD_FINALIZER);
    const body = { metadata: { labels: { [HOLD_LABEL]: null }, finalizers } };
    apiServer.patch(pods, { namespace: 'default', name }, body, { type: 'merge' });
  };
  const look = (pod: Pod): void => {
    const { uid = '', name = '' } = pod.metadata ?? {};
    if (!isAsked(pod)) {
      turns.get(uid)?.cancel();
      turns.delete(uid);
    } else if (drainMs !== undefined && !turns.has(uid))
      turns.set(
        uid,
        time.timer(drainMs, () => {
          turns.delete(uid);
          letGo(name);
        }),
      );
  };
  const isOurs = ({ metadata }: Pod): boolean => metadata?.labels?.['app'] === label;

  apiServer.subscribe(({ type, resource, object }: Change) => {
    if (resource.plural !== 'pods') return;
    const pod = object as unknown as Pod;
    if (type === 'DELETED') {
      turns.get(object.metadata.uid)?.cancel();
      turns.delete(object.metadata.uid);
    } else if (isOurs(pod)) look(pod);
  });
  return {
    /** From now on it needs so long for each pod; undefined: it dies, and what it was about to do does not happen. */
    become(ms: number | undefined): void {
      drainMs = ms;
      for (const turn of turns.values()) turn.cancel();
      turns.clear();
      for (const pod of apiServer.list<Pod>(pods)) if (isOurs(pod)) look(pod);
    },
  };
};
export type DrainController = ReturnType<typeof createDrainController>;
