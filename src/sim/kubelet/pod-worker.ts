import { isKubeError } from '../../kube/index.ts';
import type { Clock, Timer } from '../../runtime/index.ts';
import { type EventRecorder, involvedObject } from '../controllers/index.ts';
import { nodes, pods, type StoredNode, type StoredPod } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import { type Delays, OFFLINE, POWER, podSimulation } from './behaviour.ts';
import { podJitter } from './containers.ts';
import { actionDelay, nextAction, type PodAction } from './pod-actions.ts';
import { eventsAfter } from './pod-events.ts';
import { type Host, statusAfter } from './pod-status.ts';

export interface PodWorkerOptions {
  apiServer: ApiServer;
  clock: Clock;
  recorder: EventRecorder;
  delays: Delays;
  /** The node as it is now; undefined while it is cut off: nothing happens on it then. */
  node: () => StoredNode | undefined;
  host: Host;
}

/** Plays the life of one pod on its node. */
export interface PodWorker {
  /** The pod, or its node, has changed. */
  sync(pod: StoredPod): void;
  /** Whatever was under way is not done: the node is cut off, or the pod is gone. */
  stop(): void;
  readonly pod: StoredPod;
}

export const createPodWorker = (first: StoredPod, options: PodWorkerOptions): PodWorker => {
  const { apiServer, clock, recorder, delays, node, host } = options;
  let pod = first;
  let pending: { step: PodAction; timer: Timer } | undefined;

  const stop = (): void => {
    pending?.timer.cancel();
    pending = undefined;
  };

  const carryOut = (step: PodAction, hostNode: StoredNode): void => {
    const { namespace, name, uid } = pod.metadata;
    if (step === 'remove') {
      apiServer.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
      return;
    }
    if (step === 'kill-node') {
      const body = { metadata: { annotations: { [POWER]: OFFLINE } } };
      apiServer.patch(nodes, { name: hostNode.metadata.name }, body, { type: 'merge' });
      return;
    }
    const fate = podSimulation(pod, hostNode, delays);
    const status = statusAfter(step, pod, { ...host, now: clock.now() }, fate);
    const told = eventsAfter(step, pod);
    if (status) apiServer.update<object>(pods, { ...pod, status }, { subresource: 'status' });
    for (const { type, reason, message, container } of told)
      recorder.record(involvedObject(pod), type, reason, message, {
        host: hostNode.metadata.name,
        ...(container !== undefined && { fieldPath: `spec.containers{${container}}` }),
      });
  };

  const fire = (): void => {
    const step = pending?.step;
    pending = undefined;
    const hostNode = node();
    if (!step || !hostNode) return;
    try {
      carryOut(step, hostNode);
    } catch (error) {
      // Gone, or changed by what is not told of yet: the next look is at what it became.
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
      const fate = podSimulation(pod, hostNode, delays);
      const step = nextAction(pod, fate.behaviour, fate.resize);
      if (step === pending?.step) return;
      stop();
      if (step === undefined) return;
      const delayMs = actionDelay(step, pod, fate, podJitter(pod.metadata.uid, step));
      pending = { step, timer: clock.timer(delayMs, fire) };
    },
  };
};
