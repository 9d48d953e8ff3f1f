import { ifFound, type KubeClient } from '../../kube/index.ts';
import { controllerOf, type Owner } from '../../rollout/index.ts';
import type { Clock } from '../../runtime/index.ts';
import { advancedDaemonSets } from './api/types.ts';
import type { NativeDaemonSets } from './native-daemonsets.ts';
import { isNativeOwner } from './other-owner.ts';
import type { CachedPod } from './podcontrol/cached-pod.ts';

/** How long the answer counts that another Advanced DaemonSet stays. */
const STAYS_MS = 5_000;
const TIMEOUT_MS = 10_000;

export interface PreviousOwners {
  podObserved(cached: CachedPod, present: boolean): void;
  /** A previous owner of pods that the selector matches, and are not being deleted. */
  ofPods(namespace: string, signal: AbortSignal): Promise<Owner | undefined>;
  /** Is this controller of an object a previous one? */
  has: (owner: Owner, namespace: string, signal: AbortSignal) => Promise<boolean>;
}

/**
 * Previous owners: DaemonSets that are being deleted, or are gone, while objects still name them as their controller. The
 * garbage collector releases or deletes those one after another, so it is not known yet which of them to adopt.
 */
export const createPreviousOwners = (
  client: Pick<KubeClient, 'get'>,
  clock: Pick<Clock, 'now'>,
  natives: Pick<NativeDaemonSets, 'stays'>,
): PreviousOwners => {
  /** By UID of the owner: the pods of it that the selector matches, without terminating ones. */
  const podsByOwner = new Map<string, { owner: Owner; pods: Set<string> }>();
  const ownerByPod = new Map<string, string>();
  /** By UID of an Advanced DaemonSet that stays: when that was read. */
  const readAt = new Map<string, number>();

  const remove = (pod: string): void => {
    const owner = ownerByPod.get(pod);
    if (owner === undefined) return;
    ownerByPod.delete(pod);
    const pods = podsByOwner.get(owner)?.pods;
    pods?.delete(pod);
    if (pods?.size === 0) podsByOwner.delete(owner);
  };

  const stays = async (owner: Owner, namespace: string, signal: AbortSignal): Promise<boolean> => {
    if (isNativeOwner(owner)) return natives.stays(owner.uid);
    const now = clock.now();
    const at = readAt.get(owner.uid);
    if (at !== undefined && now >= at && now - at < STAYS_MS) return true;
    const { name, uid } = owner;
    const found = await ifFound(client.get(advancedDaemonSets, { namespace, name }, { timeoutMs: TIMEOUT_MS, signal }));
    const isThere = found?.metadata.uid === uid && !found.metadata.deletionTimestamp;
    if (isThere) readAt.set(uid, now);
    else readAt.delete(uid);
    return isThere;
  };

  return {
    podObserved({ ownership, facts: { uid, terminating }, pod }, present) {
      remove(uid);
      const owner = present && ownership === 'other' && !terminating ? controllerOf(pod) : undefined;
      if (!owner) return;
      ownerByPod.set(uid, owner.uid);
      const known = podsByOwner.get(owner.uid);
      if (known) known.pods.add(uid);
      else podsByOwner.set(owner.uid, { owner, pods: new Set([uid]) });
    },
    async ofPods(namespace, signal) {
      for (const { owner } of podsByOwner.values()) if (!(await stays(owner, namespace, signal))) return owner;
      return undefined;
    },
    has: async (owner, namespace, signal) => !(await stays(owner, namespace, signal)),
  };
};
