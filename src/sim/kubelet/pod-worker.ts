import { isKubeError } from '../../kube/index.ts';
import type { Clock, Timer } from '../../runtime/index.ts';
import type { EventRecorder } from '../controllers/index.ts';
import { subjectOf } from '../controllers/index.ts';
import { type KeptNode, type KeptPod, nodes, pods } from '../resources.ts';
import type { Machinery } from '../types.ts';
import { type Delays, fateOf, OFFLINE, POWER } from './behaviour.ts';
import { spreadOf } from './digest.ts';
import { eventsOf } from './pod-events.ts';
import { type Host, statusAfter } from './pod-status.ts';
import { delayOf, type Step, stepOf } from './step.ts';

export interface PodWorkerOptions {
  machinery: Machinery;
  clock: Clock;
  recorder: EventRecorder;
  delays: Delays;
  /** The node as it is now; undefined while it is cut off: nothing happens on it then. */
  node: () => KeptNode | undefined;
  host: Host;
}

/** Plays the life of one pod on its node. */
export interface PodWorker {
  /** The pod, or its node, has changed. */
  look(pod: KeptPod): void;
  /** Whatever was under way is not done: the node is cut off, or the pod is gone. */
  halt(): void;
  readonly pod: KeptPod;
}

export const createPodWorker = (first: KeptPod, options: PodWorkerOptions): PodWorker => {
  const { machinery, clock, recorder, delays, node, host } = options;
  let pod = first;
  let pending: { step: Step; timer: Timer } | undefined;

  const halt = (): void => {
    pending?.timer.cancel();
    pending = undefined;
  };

  const carryOut = (step: Step, hostNode: KeptNode): void => {
    const { namespace, name, uid } = pod.metadata;
    if (step === 'remove') {
      machinery.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
      return;
    }
    if (step === 'kill-node') {
      const body = { metadata: { annotations: { [POWER]: OFFLINE } } };
      machinery.patch(nodes, { name: hostNode.metadata.name }, body, { type: 'merge' });
      return;
    }
    const fate = fateOf(pod, hostNode, delays);
    const status = statusAfter(step, pod, { ...host, now: clock.now() }, fate);
    const told = eventsOf(step, pod);
    if (status) machinery.update<object>(pods, { ...pod, status }, { subresource: 'status' });
    for (const { type, reason, message, container } of told)
      recorder.record(subjectOf(pod), type, reason, message, {
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
    halt,
    look(next) {
      pod = next;
      const hostNode = node();
      if (!hostNode) return;
      const fate = fateOf(pod, hostNode, delays);
      const step = stepOf(pod, fate.behaviour, fate.resizing);
      if (step === pending?.step) return;
      halt();
      if (step === undefined) return;
      const delayMs = delayOf(step, pod, fate, spreadOf(pod.metadata.uid, step));
      pending = { step, timer: clock.timer(delayMs, fire) };
    },
  };
};
