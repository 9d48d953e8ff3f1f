import { isKubeError, nodes, pods } from '../../src/kube/index.ts';
import type { Env } from '../../src/runtime/index.ts';
import { type StoredNode, type StoredPod, toTime, updateStatus, withCondition } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import { createPodsByNode } from './indexes.ts';
import { type Controller, createInformers, type InformerEvent } from './informers.ts';

// A node must be gone for QUARANTINE_MS before its pods are deleted; a round runs every PERIOD_MS.
const QUARANTINE_MS = 40_000;
const PERIOD_MS = 20_000;

/**
 * Pod garbage collection: deletes pods 40 to 60 seconds after their node, and terminating pods that were never bound.
 */
export const createPodGarbageCollector = (apiServer: ApiServer, env: Env): Controller => {
  const { clock } = env;
  const informers = createInformers(apiServer, clock);
  const present = new Set<string>();
  const podsOn = createPodsByNode(informers);
  /** Since when nodes with pods are gone. Empty in a healthy cluster, so that a round costs nothing. */
  const goneSince = new Map<string, number>();
  let scheduled = false;

  const deletePod = (pod: StoredPod): void => {
    const { name, namespace, uid } = pod.metadata;
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      lastTransitionTime: toTime(clock.now()),
    };
    try {
      updateStatus(apiServer, pods, pod, { phase: 'Failed', conditions: withCondition(pod, condition) });
      apiServer.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      // The next round retries.
      if (!isKubeError(error)) throw error;
    }
  };

  const round = (): void => {
    scheduled = false;
    if (!informers.paused)
      for (const [node, since] of goneSince) {
        if (clock.now() - since < QUARANTINE_MS) continue;
        for (const pod of podsOn(node)) deletePod(pod);
        if (podsOn(node).length === 0) goneSince.delete(node);
      }
    nextRound();
  };
  const nextRound = (): void => {
    if (scheduled || goneSince.size === 0) return;
    scheduled = true;
    clock.timer(PERIOD_MS - (clock.now() % PERIOD_MS), round);
  };
  const markOrphaned = (node: string): void => {
    if (present.has(node) || podsOn(node).length === 0) return;
    if (!goneSince.has(node)) goneSince.set(node, clock.now());
    nextRound();
  };

  informers.addHandler(nodes, ({ type, object }: InformerEvent<StoredNode>) => {
    const { name } = object.metadata;
    if (type === 'DELETED') {
      present.delete(name);
      markOrphaned(name);
    } else {
      present.add(name);
      goneSince.delete(name);
    }
  });
  informers.addHandler(pods, ({ type, object }: InformerEvent<StoredPod>) => {
    const { uid, namespace, name } = object.metadata;
    const node = object.spec?.nodeName;
    if (!node) {
      // It was never bound, so no kubelet will finish its termination.
      if (type !== 'DELETED' && object.metadata.deletionTimestamp != null && !object.metadata.finalizers?.length)
        clock.timer(0, () => {
          if (apiServer.find<StoredPod>(pods, { namespace, name })?.metadata.uid === uid)
            apiServer.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
        });
      return;
    }
    if (type === 'ADDED' || (type === 'MODIFIED' && !goneSince.has(node))) markOrphaned(node);
  });
  return informers;
};
