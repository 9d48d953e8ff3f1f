import { isKubeError } from '../../kube/index.ts';
import type { Env } from '../../runtime/index.ts';
import { nodes, pods, type StoredNode, type StoredPod, toTime } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import { type Controls, createInformers, type InformerEvent } from './informers.ts';

export interface PodGarbageCollector extends Controls {
  close(): void;
}

// A node that is gone must stay gone for so long; it is looked at so often.
const QUARANTINE_MS = 40_000;
const PERIOD_MS = 20_000;

/** Ends pods whose node object is gone, 40 to 60 seconds later, and pods that nobody else will end. */
export const createPodGarbageCollector = (apiServer: ApiServer, env: Env): PodGarbageCollector => {
  const { clock } = env;
  const informers = createInformers(apiServer, clock);
  const present = new Set<string>();
  /** Pods on nodes without an object, since when; empty while all is well, so that a round costs nothing. */
  const orphaned = new Map<string, Map<string, StoredPod>>();
  const goneSince = new Map<string, number>();
  const byNode = new Map<string, Map<string, StoredPod>>();
  let rounds = false;

  const end = (pod: StoredPod): void => {
    const { name, namespace, uid } = pod.metadata;
    const now = toTime(clock.now());
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      lastTransitionTime: now,
    };
    const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget');
    try {
      apiServer.update<object>(
        pods,
        { ...pod, status: { ...pod.status, phase: 'Failed', conditions: [...others, condition] } },
        { subresource: 'status' },
      );
      apiServer.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      // Seen again in the next round.
      if (!isKubeError(error)) throw error;
    }
  };

  const round = (): void => {
    rounds = false;
    if (!informers.paused)
      for (const [node, since] of goneSince) {
        if (clock.now() - since < QUARANTINE_MS) continue;
        for (const pod of orphaned.get(node)?.values() ?? []) end(pod);
        if ((orphaned.get(node)?.size ?? 0) === 0) goneSince.delete(node);
      }
    nextRound();
  };
  const nextRound = (): void => {
    if (rounds || goneSince.size === 0) return;
    rounds = true;
    clock.timer(PERIOD_MS - (clock.now() % PERIOD_MS), round);
  };
  const suspect = (node: string): void => {
    const pinnedThere = byNode.get(node);
    if (present.has(node) || !pinnedThere) return;
    orphaned.set(node, pinnedThere);
    if (!goneSince.has(node)) goneSince.set(node, clock.now());
    nextRound();
  };

  informers.addHandler(nodes, ({ type, object }: InformerEvent<StoredNode>) => {
    const { name } = object.metadata;
    if (type === 'DELETED') {
      present.delete(name);
      suspect(name);
    } else {
      present.add(name);
      goneSince.delete(name);
      orphaned.delete(name);
    }
  });
  informers.addHandler(pods, ({ type, object }: InformerEvent<StoredPod>) => {
    const { uid, namespace, name } = object.metadata;
    const node = object.spec?.nodeName;
    if (!node) {
      // Nobody runs it, and nobody will say that it has ended.
      if (type !== 'DELETED' && object.metadata.deletionTimestamp != null && !object.metadata.finalizers?.length)
        clock.timer(0, () => {
          if (apiServer.find<StoredPod>(pods, { namespace, name })?.metadata.uid === uid)
            apiServer.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
        });
      return;
    }
    const there = byNode.get(node) ?? new Map<string, StoredPod>();
    if (type === 'DELETED') there.delete(uid);
    else there.set(uid, object);
    if (there.size === 0) byNode.delete(node);
    else byNode.set(node, there);
    if (type === 'ADDED' || (type === 'MODIFIED' && !goneSince.has(node))) suspect(node);
  });
  return informers;
};
