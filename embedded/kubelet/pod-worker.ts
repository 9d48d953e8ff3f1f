import { isKubeError, nodes, pods } from '../../src/kube/index.ts';
import type { Clock, Timer } from '../../src/runtime/index.ts';
import { type EventRecorder, involvedObject } from '../controllers/index.ts';
import { type StoredNode, type StoredPod, toTime, updateStatus } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import { type Delays, OFFLINE, POWER, podSimulation } from './behaviour.ts';
import { podJitter } from './containers.ts';
import { nextAction, type PodAction } from './next-action.ts';
import { podActions } from './pod-actions.ts';
import type { Host } from './pod-status.ts';

export interface PodWorkerOptions {
  apiServer: ApiServer;
  clock: Clock;
  recorder: EventRecorder;
  delays: Delays;
  /** The current Node; undefined while it is offline, when nothing happens on it. */
  node: () => StoredNode | undefined;
  host: Host;
}

/** Simulates one pod on its node. */
export interface PodWorker {
  /** Schedules the next action, after the pod or its node changed. */
  sync(pod: StoredPod): void;
  /** Drops the pending action: the node is offline, or the pod is gone. */
  stop(): void;
  readonly pod: StoredPod;
}

export const createPodWorker = (first: StoredPod, options: PodWorkerOptions): PodWorker => {
  const { apiServer, clock, recorder, delays, node, host } = options;
  let pod = first;
  let pending: { action: PodAction; timer: Timer } | undefined;

  const stop = (): void => {
    pending?.timer.cancel();
    pending = undefined;
  };

  const perform = (action: PodAction, hostNode: StoredNode): void => {
    const { namespace, name, uid } = pod.metadata;
    if (action === 'remove') {
      apiServer.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
      return;
    }
    if (action === 'kill-node') {
      const body = { metadata: { annotations: { [POWER]: OFFLINE } } };
      apiServer.patch(nodes, { name: hostNode.metadata.name }, body, { type: 'merge' });
      return;
    }
    const { status, events } = podActions[action];
    const simulation = podSimulation(pod, hostNode, delays);
    const changes = status?.(pod, toTime(clock.now()), host, simulation);
    const recorded = events?.(pod) ?? [];
    if (changes) updateStatus(apiServer, pods, pod, changes);
    for (const { type, reason, message, container } of recorded)
      recorder.record(involvedObject(pod), type, reason, message, {
        host: hostNode.metadata.name,
        ...(container !== undefined && { fieldPath: `spec.containers{${container}}` }),
      });
  };

  const fire = (): void => {
    const action = pending?.action;
    pending = undefined;
    const hostNode = node();
    if (!action || !hostNode) return;
    try {
      perform(action, hostNode);
    } catch (error) {
      // Deleted, or changed by a write that the watch hasn't delivered yet: the next sync sees it.
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
    }
  };

  return {
    get pod() {
      return pod;
    },
    stop,
    sync(next) {
      pod = next;
      const hostNode = node();
      if (!hostNode) return;
      const simulation = podSimulation(pod, hostNode, delays);
      const action = nextAction(pod, simulation.behaviour, simulation.resize);
      if (action === pending?.action) return;
      stop();
      if (action === undefined) return;
      const delayMs = podActions[action].delayMs(simulation, podJitter(pod.metadata.uid, action), pod);
      pending = { action, timer: clock.timer(delayMs, fire) };
    },
  };
};
