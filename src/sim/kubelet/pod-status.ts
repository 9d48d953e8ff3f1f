import type { Container, ContainerStatus, PodStatus } from 'kubernetes-types/core/v1.d.ts';
import { type KeptPod, toTime } from '../resources.ts';
import { containerId, imageId } from './digest.ts';
import { gatesPass, type Step } from './step.ts';

/** Where a pod runs. */
export interface Host {
  ip: string;
  /** A fresh address for a pod of this node. */
  podIp: () => string;
  now: number;
}

type Conditions = object[];
type Statuses = readonly ContainerStatus[];

const statusesOf = ({ status }: KeptPod): Statuses => status?.containerStatuses ?? [];

/** The pod's conditions with these statuses; a time changes with its status only. */
const withConditions = (
  pod: KeptPod,
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

const notReady = (pod: KeptPod, now: string, reason = 'ContainersNotReady'): Conditions => {
  const names = (pod.spec?.containers ?? []).map(({ name }) => name).join(' ');
  const why =
    reason === 'ContainersNotReady'
      ? { status: 'False' as const, reason, message: `containers with unready status: [${names}]` }
      : { status: 'False' as const, reason };
  return withConditions(pod, now, { Ready: why, ContainersReady: why });
};

const ready = (pod: KeptPod, now: string): Conditions =>
  withConditions(pod, now, {
    ContainersReady: { status: 'True' },
    Ready: gatesPass(pod) ? { status: 'True' } : { status: 'False', reason: 'ReadinessGatesNotReady' },
  });

const creating = ({ name, image = '' }: Container): object => ({
  name,
  image,
  imageID: '',
  restartCount: 0,
  ready: false,
  started: false,
  lastState: {},
  state: { waiting: { reason: 'ContainerCreating' } },
});

const initialised = ({ name, image = '' }: Container, now: string): object => ({
  name,
  image,
  imageID: imageId(image),
  restartCount: 0,
  ready: true,
  started: false,
  lastState: {},
  state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } },
});

const running = (pod: KeptPod, status: ContainerStatus, now: string, isReady: boolean): object => ({
  ...status,
  containerID: containerId(pod.metadata.uid, status.name, status.restartCount),
  imageID: imageId(status.image),
  ready: isReady,
  started: true,
  state: { running: { startedAt: now } },
});

const crashed = (pod: KeptPod, status: ContainerStatus, now: string): object => {
  const id = containerId(pod.metadata.uid, status.name, status.restartCount);
  const startedAt = status.state?.running?.startedAt ?? now;
  const { name, namespace, uid } = pod.metadata;
  return {
    ...status,
    containerID: id,
    imageID: imageId(status.image),
    restartCount: status.restartCount + 1,
    ready: false,
    started: false,
    lastState: { terminated: { exitCode: 1, reason: 'Error', startedAt, finishedAt: now, containerID: id } },
    state: {
      waiting: {
        reason: 'CrashLoopBackOff',
        message: `back-off restarting failed container=${status.name} pod=${name}_${namespace}(${uid})`,
      },
    },
  };
};

const waitingFor = (status: ContainerStatus, reason: string, message: string): object =>
  status.state?.waiting ? { ...status, state: { waiting: { reason, message } } } : status;

const ended = (pod: KeptPod, status: ContainerStatus, now: string, exitCode: number, reason: string): object => {
  if (status.state?.terminated) return status;
  const containerID = containerId(pod.metadata.uid, status.name, status.restartCount);
  const startedAt = status.state?.running?.startedAt ?? now;
  return {
    ...status,
    ready: false,
    started: false,
    state: { terminated: { exitCode, reason, startedAt, finishedAt: now, containerID } },
  };
};

const admitted = (pod: KeptPod, { ip }: Host, now: string): object => {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const begun = { Initialized: { status: 'True' }, PodReadyToStartContainers: { status: 'True' } } as const;
  const base = { ...pod, status: { ...pod.status, conditions: notReady(pod, now) } } as KeptPod;
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

const started = (pod: KeptPod, host: Host, now: string, isReady: boolean): object => {
  const ip = pod.status?.podIP ?? (pod.spec?.hostNetwork === true ? host.ip : host.podIp());
  return {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: isReady ? ready(pod, now) : notReady(pod, now),
    containerStatuses: statusesOf(pod).map((status) =>
      status.state?.waiting ? running(pod, status, now, isReady) : { ...status, ready: isReady },
    ),
  };
};

/** In place: the container of a changed image ends first; the new one is made by the next start. */
const imageChanged = (pod: KeptPod, now: string): object => {
  const wanted = new Map((pod.spec?.containers ?? []).map(({ name, image = '' }) => [name, image]));
  return {
    conditions: notReady(pod, now),
    containerStatuses: statusesOf(pod).map((status) => {
      const image = wanted.get(status.name) ?? status.image;
      if (image === status.image) return status;
      const last = status.state?.running
        ? {
            terminated: {
              exitCode: 0,
              reason: 'Completed',
              startedAt: status.state.running.startedAt,
              finishedAt: now,
            },
          }
        : (status.lastState ?? {});
      return {
        ...status,
        image,
        imageID: '',
        restartCount: status.restartCount + 1,
        ready: false,
        started: false,
        lastState: last,
        state: { waiting: { reason: 'ContainerCreating' } },
      };
    }),
  };
};

const stopped = (pod: KeptPod, now: string): object => {
  // A pod that never got so far has nothing to stop; it is shown as ended all the same.
  const statuses = statusesOf(pod).length > 0 ? statusesOf(pod) : (pod.spec?.containers ?? []).map(creating);
  return {
    phase: 'Succeeded',
    conditions: notReady(pod, now, 'PodCompleted'),
    containerStatuses: (statuses as Statuses).map((status) => ended(pod, status, now, 0, 'Completed')),
  };
};

const crash = (pod: KeptPod, now: string): object => ({
  phase: 'Running',
  conditions: notReady(pod, now),
  containerStatuses: statusesOf(pod).map((status) => crashed(pod, status, now)),
});

const evicted = (pod: KeptPod, now: string): object => ({
  phase: 'Failed',
  reason: 'Evicted',
  message: 'The node was low on resource: ephemeral-storage.',
  conditions: notReady(pod, now, 'PodFailed'),
  containerStatuses: statusesOf(pod).map((status) => ended(pod, status, now, 137, 'Error')),
});

/** As of a real kubelet over containerd: pulled, created, and not started. */
const notStarted = (pod: KeptPod, now: string): object => ({
  phase: 'Failed',
  conditions: notReady(pod, now, 'PodFailed'),
  containerStatuses: statusesOf(pod).map((status) => {
    const program = pod.spec?.containers.find(({ name }) => name === status.name)?.command?.[0] ?? '';
    const message = `failed to create containerd task: exec: "${program}": stat ${program}: no such file or directory`;
    const containerID = containerId(pod.metadata.uid, status.name, status.restartCount);
    const terminated = { exitCode: 128, reason: 'StartError', message, finishedAt: now, containerID };
    return {
      ...status,
      imageID: imageId(status.image),
      containerID,
      ready: false,
      started: false,
      state: { terminated },
    };
  }),
});

const pulling = (pod: KeptPod, reason: string, message: (image: string) => string): object => ({
  containerStatuses: statusesOf(pod).map((status) => waitingFor(status, reason, message(status.image))),
});

/** The pod's status after a step; undefined for steps that are not about its status. */
export const statusAfter = (step: Step, pod: KeptPod, host: Host, becomesReady: boolean): PodStatus | undefined => {
  const now = toTime(host.now);
  const changes = ((): object | undefined => {
    switch (step) {
      case 'admit':
        return admitted(pod, host, now);
      case 'start':
        return started(pod, host, now, becomesReady);
      case 'probe':
        return {
          conditions: ready(pod, now),
          containerStatuses: statusesOf(pod).map((each) => ({ ...each, ready: true })),
        };
      case 'fail-probe':
        return {
          conditions: notReady(pod, now),
          containerStatuses: statusesOf(pod).map((each) => ({ ...each, ready: false })),
        };
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
        return notStarted(pod, now);
      case 'fail':
        return evicted(pod, now);
      case 'change-image':
        return imageChanged(pod, now);
      case 'stop':
        return stopped(pod, now);
      case 'kill-node':
      case 'remove':
        return undefined;
    }
  })();
  return changes && { ...pod.status, ...changes };
};
