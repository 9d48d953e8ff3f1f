import type { ContainerStatus, PodStatus } from 'kubernetes-types/core/v1.d.ts';
import { type StoredPod, toTime } from '../resources.ts';
import type { PodSimulation } from './behaviour.ts';
import {
  crashed,
  creating,
  ended,
  initialised,
  notStarted,
  resized,
  running,
  stoppedForNewImage,
  waitingFor,
} from './container-status.ts';
import { imageFor, statusesOf, withStatuses } from './containers.ts';
import { type PodAction, readinessGatesPass } from './pod-actions.ts';

/** The host of a pod. */
export interface Host {
  ip: string;
  /** Allocates an IP address from the node's range. */
  podIp: () => string;
  now: number;
}

type Conditions = object[];

/** The pod's conditions with these statuses; lastTransitionTime changes only with the status. */
const withConditions = (
  pod: StoredPod,
  now: string,
  wanted: Readonly<Record<string, { status: 'True' | 'False'; reason?: string; message?: string }>>,
): Conditions => {
  const present = pod.status?.conditions ?? [];
  const made = Object.entries(wanted).map(([type, { status, reason, message }]) => {
    const before = present.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    return {
      type,
      status,
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
      lastProbeTime: null,
      lastTransitionTime,
    };
  });
  return [...present.filter(({ type }) => !(type in wanted)), ...made];
};

const notReady = (pod: StoredPod, now: string, reason = 'ContainersNotReady'): Conditions => {
  const names = (pod.spec?.containers ?? []).map(({ name }) => name).join(' ');
  const why =
    reason === 'ContainersNotReady'
      ? { status: 'False' as const, reason, message: `containers with unready status: [${names}]` }
      : { status: 'False' as const, reason };
  return withConditions(pod, now, { Ready: why, ContainersReady: why });
};

const ready = (pod: StoredPod, now: string): Conditions =>
  withConditions(pod, now, {
    ContainersReady: { status: 'True' },
    Ready: readinessGatesPass(pod) ? { status: 'True' } : { status: 'False', reason: 'ReadinessGatesNotReady' },
  });

const admitted = (pod: StoredPod, { ip }: Host, now: string): object => {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const begun = { Initialized: { status: 'True' }, PodReadyToStartContainers: { status: 'True' } } as const;
  const base = { ...pod, status: { ...pod.status, conditions: notReady(pod, now) } } as StoredPod;
  return {
    phase: 'Pending',
    startTime: now,
    hostIP: ip,
    hostIPs: [{ ip }],
    conditions: withConditions(base, now, begun),
    ...(initContainers.length > 0 && { initContainerStatuses: initContainers.map((each) => initialised(each, now)) }),
    containerStatuses: containers.map(creating),
  };
};

const started = (pod: StoredPod, host: Host, now: string, isReady: boolean): object => {
  const ip = pod.status?.podIP ?? (pod.spec?.hostNetwork === true ? host.ip : host.podIp());
  return {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: isReady ? ready(pod, now) : notReady(pod, now),
    ...withStatuses(pod, (status) => running(pod, status, now, isReady)),
  };
};

const stopped = (pod: StoredPod, now: string): object => {
  // A pod that was never admitted has nothing to stop; its status shows terminated containers all the same.
  const none = statusesOf(pod).length === 0;
  const shown = none
    ? ({ ...pod, status: { containerStatuses: (pod.spec?.containers ?? []).map(creating) } } as StoredPod)
    : pod;
  return {
    phase: 'Succeeded',
    conditions: notReady(pod, now, 'PodCompleted'),
    ...withStatuses(shown, (status) => ended(pod, status, now, 0, 'Completed')),
  };
};

const BAD = /--(crash-loop|dies-after-ready)$/;

/** Containers with a bad image crash. If none has one, the pod itself is bad and all crash. */
const crash = (pod: StoredPod, now: string): object => {
  const isBad = (status: ContainerStatus): boolean => BAD.test(imageFor(pod, status));
  const some = statusesOf(pod).some(isBad);
  return {
    phase: 'Running',
    conditions: notReady(pod, now),
    ...withStatuses(pod, (status) =>
      some && !isBad(status) ? running(pod, status, now, true) : crashed(pod, status, now),
    ),
  };
};

const evicted = (pod: StoredPod, now: string): object => ({
  phase: 'Failed',
  reason: 'Evicted',
  message: 'The node was low on resource: ephemeral-storage.',
  conditions: notReady(pod, now, 'PodFailed'),
  ...withStatuses(pod, (status) => ended(pod, status, now, 137, 'Error')),
});

const pulling = (pod: StoredPod, reason: string, message: (image: string) => string): object =>
  withStatuses(pod, (status) => waitingFor(status, reason, message(imageFor(pod, status))));

const PENDING = 'PodResizePending';
const IN_PROGRESS = 'PodResizeInProgress';

/** The resize conditions; none is set when no resize is pending. */
const resizing = (pod: StoredPod, now: string, type?: string, why?: { reason: string; message: string }): object => {
  const others = (pod.status?.conditions ?? []).filter((each) => each.type !== PENDING && each.type !== IN_PROGRESS);
  const base = { ...pod, status: { ...pod.status, conditions: others } } as StoredPod;
  return {
    conditions: type === undefined ? others : withConditions(base, now, { [type]: { status: 'True', ...why } }),
  };
};

const REFUSALS = {
  infeasible: {
    reason: 'Infeasible',
    message: "Node didn't have enough capacity: cpu, requested: 64000, capacity: 4000",
  },
  deferred: {
    reason: 'Deferred',
    message: "Node didn't have enough resource: cpu, requested: 4000, used: 3900, capacity: 4000",
  },
} as const;

/** The pod's status after an action; undefined for actions that don't change it. */
export const statusAfter = (
  action: PodAction,
  pod: StoredPod,
  host: Host,
  simulation: PodSimulation,
): PodStatus | undefined => {
  const now = toTime(host.now);
  const changes = ((): object | undefined => {
    switch (action) {
      case 'admit':
        return admitted(pod, host, now);
      case 'start':
        return started(pod, host, now, simulation.behaviour !== 'never-ready');
      case 'gate':
        return { conditions: ready(pod, now) };
      case 'probe':
        return { conditions: ready(pod, now), ...withStatuses(pod, (each) => ({ ...each, ready: true })) };
      case 'fail-probe':
        return { conditions: notReady(pod, now), ...withStatuses(pod, (each) => ({ ...each, ready: false })) };
      case 'crash':
      case 'crash-again':
      case 'die':
        return crash(pod, now);
      case 'fail-pull':
        return pulling(pod, 'ErrImagePull', (image) => `failed to pull image "${image}": not found`);
      case 'back-off-pull':
        return pulling(
          pod,
          'ImagePullBackOff',
          (image) => `Back-off pulling image "${image}": ErrImagePull: not found`,
        );
      case 'fail-start':
        return {
          phase: 'Failed',
          conditions: notReady(pod, now, 'PodFailed'),
          ...withStatuses(pod, (status) => notStarted(pod, status, now)),
        };
      case 'fail':
        return evicted(pod, now);
      case 'change-image':
        return {
          conditions: notReady(pod, now),
          ...withStatuses(pod, (status) => stoppedForNewImage(pod, status, now)),
        };
      case 'begin-resize':
        return resizing(pod, now, IN_PROGRESS);
      case 'refuse-resize':
        return resizing(pod, now, PENDING, REFUSALS[simulation.resize === 'deferred' ? 'deferred' : 'infeasible']);
      case 'resize':
        return { ...resizing(pod, now), ...withStatuses(pod, (status) => resized(pod, status)) };
      case 'end-resize':
        return resizing(pod, now);
      case 'stop':
        return stopped(pod, now);
      case 'kill-node':
      case 'remove':
        return undefined;
    }
  })();
  return changes && { ...pod.status, ...changes };
};
