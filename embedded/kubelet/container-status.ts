import type { Container, ContainerStatus } from 'kubernetes-types/core/v1.d.ts';
import type { StoredPod } from '../resources.ts';
import { containerId, imageFor, imageId, isOutdated, isSidecar, resourcesFor } from './containers.ts';

/** The functions below give a container's status after an action. A container that isn't affected keeps its own. */
export const creating = ({ name, image = '' }: Container): object => ({
  name,
  image,
  imageID: '',
  restartCount: 0,
  ready: false,
  started: false,
  lastState: {},
  state: { waiting: { reason: 'ContainerCreating' } },
});

/** Sidecars wait with the containers; plain init containers have completed. */
export const initialised = (container: Container, now: string): object =>
  isSidecar(container)
    ? creating(container)
    : {
        ...creating(container),
        imageID: imageId(container.image ?? ''),
        ready: true,
        state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } },
      };

/**
 * The restart count of the running or next container. A crash is counted when it happens, and a replacement for a new
 * image when it starts.
 */
const restartsOf = ({ restartCount, containerID, state }: ContainerStatus): number =>
  containerID !== undefined && state?.waiting && state.waiting.reason !== 'CrashLoopBackOff'
    ? restartCount + 1
    : restartCount;

export const running = (
  pod: StoredPod,
  status: ContainerStatus,
  now: string,
  isReady: boolean,
  content: string,
): object => {
  if (!status.state?.waiting) return { ...status, ready: isReady };
  const restartCount = restartsOf(status);
  const image = imageFor(pod, status);
  return {
    ...status,
    image,
    imageID: imageId(image, content),
    containerID: containerId(pod.metadata.uid, status.name, restartCount),
    restartCount,
    ...resourcesFor(pod, status.name),
    ready: isReady,
    started: true,
    state: { running: { startedAt: now } },
  };
};

export const crashed = (pod: StoredPod, status: ContainerStatus, now: string, content: string): object => {
  const restarts = restartsOf(status);
  const id = containerId(pod.metadata.uid, status.name, restarts);
  const startedAt = status.state?.running?.startedAt ?? now;
  const { name, namespace, uid } = pod.metadata;
  const image = imageFor(pod, status);
  return {
    ...status,
    image,
    containerID: id,
    imageID: imageId(image, content),
    restartCount: restarts + 1,
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

/**
 * In-place update: the container of a changed image stops before the new image is pulled. Until the new one runs, the
 * status reports the old ID, image and restart count.
 */
export const stoppedForNewImage = (pod: StoredPod, status: ContainerStatus, now: string): object => {
  if (!isOutdated(pod, status)) return status;
  const { containerID } = status;
  const startedAt = status.state?.running?.startedAt;
  return {
    ...status,
    ready: false,
    started: false,
    lastState: { terminated: { exitCode: 0, reason: 'Completed', startedAt, finishedAt: now, containerID } },
    state: { waiting: { reason: 'ContainerCreating' } },
  };
};

export const waitingFor = (status: ContainerStatus, reason: string, message: string): object =>
  status.state?.waiting ? { ...status, state: { waiting: { reason, message } } } : status;

export const ended = (
  pod: StoredPod,
  status: ContainerStatus,
  now: string,
  exitCode: number,
  reason: string,
): object => {
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

/** As a kubelet with containerd reports it: pulled and created, but not started. */
export const notStarted = (pod: StoredPod, status: ContainerStatus, now: string): object => {
  const program = pod.spec?.containers.find(({ name }) => name === status.name)?.command?.[0] ?? '';
  const message = `failed to create containerd task: exec: "${program}": stat ${program}: no such file or directory`;
  const containerID = containerId(pod.metadata.uid, status.name, status.restartCount);
  return {
    ...status,
    imageID: imageId(status.image),
    containerID,
    ready: false,
    started: false,
    state: { terminated: { exitCode: 128, reason: 'StartError', message, finishedAt: now, containerID } },
  };
};

/** The resize is done: the container runs with the resources of the spec. */
export const resized = (pod: StoredPod, status: ContainerStatus): object =>
  status.state?.running ? { ...status, ...resourcesFor(pod, status.name) } : status;
