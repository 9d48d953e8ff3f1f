import type { ContainerStatus } from 'kubernetes-types/core/v1.d.ts';
import type { StoredPod } from '../resources.ts';
import type { ResizeResult } from './behaviour.ts';
import { crashed as crashedContainer, creating, ended, initialised, running, waitingFor } from './container-status.ts';
import { imageFor, statusesOf, withStatuses } from './containers.ts';
import { readinessGatesPass } from './next-action.ts';

/** The host of a pod. */
export interface Host {
  ip: string;
  /** Allocates an IP address from the node's range. */
  podIp: () => string;
}

type Conditions = object[];

/** A kubelet's own conditions, in the order in which it posts them after those of others. */
const OWN = [
  'PodResizePending',
  'PodResizeInProgress',
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
];

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
  return [...present.filter(({ type }) => !(type in wanted)), ...made].toSorted(
    (a, b) => OWN.indexOf(a.type) - OWN.indexOf(b.type),
  );
};

export const notReady = (pod: StoredPod, now: string, reason = 'ContainersNotReady'): Conditions => {
  const names = (pod.spec?.containers ?? []).map(({ name }) => name).join(' ');
  const why =
    reason === 'ContainersNotReady'
      ? { status: 'False' as const, reason, message: `containers with unready status: [${names}]` }
      : { status: 'False' as const, reason };
  return withConditions(pod, now, { Ready: why, ContainersReady: why });
};

export const ready = (pod: StoredPod, now: string): Conditions =>
  withConditions(pod, now, {
    ContainersReady: { status: 'True' },
    Ready: readinessGatesPass(pod) ? { status: 'True' } : { status: 'False', reason: 'ReadinessGatesNotReady' },
  });

export const admitted = (pod: StoredPod, now: string, { ip }: Host): object => {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  // The scheduler has not seen pods that name their node themselves.
  const begun = {
    PodReadyToStartContainers: { status: 'True' },
    Initialized: { status: 'True' },
    PodScheduled: { status: 'True' },
  } as const;
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

export const started = (pod: StoredPod, now: string, host: Host, isReady: boolean, content: string): object => {
  const ip = pod.status?.podIP ?? (pod.spec?.hostNetwork === true ? host.ip : host.podIp());
  return {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: isReady ? ready(pod, now) : notReady(pod, now),
    ...withStatuses(pod, (status) => running(pod, status, now, isReady, content)),
  };
};

export const stopped = (pod: StoredPod, now: string): object => {
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
export const crashed = (pod: StoredPod, now: string, content: string): object => {
  const isBad = (status: ContainerStatus): boolean => BAD.test(imageFor(pod, status));
  const some = statusesOf(pod).some(isBad);
  return {
    phase: 'Running',
    conditions: notReady(pod, now),
    ...withStatuses(pod, (status) =>
      some && !isBad(status) ? running(pod, status, now, true, content) : crashedContainer(pod, status, now, content),
    ),
  };
};

export const EVICTED = { reason: 'Evicted', message: 'The node was low on resource: ephemeral-storage.' };

/** Failed for good, with these statuses of its containers. */
export const failed = (pod: StoredPod, now: string, change: (status: ContainerStatus) => object): object => ({
  phase: 'Failed',
  conditions: notReady(pod, now, 'PodFailed'),
  ...withStatuses(pod, change),
});

export const evicted = (pod: StoredPod, now: string): object => ({
  ...EVICTED,
  ...failed(pod, now, (status) => ended(pod, status, now, 137, 'Error')),
});

export const pulling = (pod: StoredPod, reason: string, message: (image: string) => string): object =>
  withStatuses(pod, (status) => waitingFor(status, reason, message(imageFor(pod, status))));

const RESIZE_CONDITIONS = ['PodResizePending', 'PodResizeInProgress'];

const RESIZING = {
  'in progress': { PodResizeInProgress: { status: 'True' } },
  infeasible: {
    PodResizePending: {
      status: 'True',
      reason: 'Infeasible',
      message: "Node didn't have enough capacity: cpu, requested: 64000, capacity: 4000",
    },
  },
  deferred: {
    PodResizePending: {
      status: 'True',
      reason: 'Deferred',
      message: "Node didn't have enough resource: cpu, requested: 4000, used: 3900, capacity: 4000",
    },
  },
  granted: {},
} as const satisfies Record<ResizeResult | 'in progress', object>;

/** The resize conditions in this state; `granted` sets none. */
export const resizing = (pod: StoredPod, now: string, state: keyof typeof RESIZING = 'granted'): object => {
  const others = (pod.status?.conditions ?? []).filter(({ type }) => !RESIZE_CONDITIONS.includes(type));
  const base = { ...pod, status: { ...pod.status, conditions: others } } as StoredPod;
  return { conditions: withConditions(base, now, RESIZING[state]) };
};
