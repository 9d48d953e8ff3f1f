import type { ContainerStatus, Pod, PodCondition, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { type Gate, gate, IN_PLACE_STATE, LIFECYCLE_STATE, PREPARING } from '../../words/index.ts';

// What OpenKruise's pods carry: readiness gates, the lifecycle label, and the state of an in-place update.

export const hasGate = (spec: PodSpec | undefined, name: Gate): boolean =>
  spec?.readinessGates?.some(({ conditionType }) => conditionType === name) ?? false;

/** The condition of a gate; undefined while nobody has opened or closed it. */
export const gateCondition = (pod: Pod, name: Gate): PodCondition | undefined =>
  pod.status?.conditions?.find(({ type }) => type === name);

/** The pod's gates of this kind. */
export const gatesOf = (pod: Pod): Gate[] => Object.values(gate).filter((name) => hasGate(pod.spec, name));

/**
 * Whether each of these gates on the pod is open. Check it in addition to condition Ready, which lags behind: the kubelet
 * computes Ready from the gates the next time that it syncs the pod.
 */
export const gatesOpen = (pod: Pod): boolean =>
  gatesOf(pod).every((name) => gateCondition(pod, name)?.status === 'True');

/** The pod waits for its user's controller before it is deleted, and counts as down in the meantime. */
export const isPreparing = (pod: Pod): boolean => pod.metadata?.labels?.[LIFECYCLE_STATE] === PREPARING;

/** A container before its update: it has restarted once its status differs from this. */
export interface ContainerSnapshot {
  imageID: string;
  containerID: string;
  /** RFC 3339; empty if it was not running. */
  startedAt: string;
  /** The image that it ran, as the spec named it. OpenKruise does not store it. */
  image?: string;
}

/** The state of an in-place update, stored on the pod so that the next leader can continue it. */
export interface InPlaceState {
  /** Hash of the revision that the pod is updated to. */
  revision: string;
  /** RFC 3339. */
  updateTimestamp: string;
  /** The containers whose image has changed and that have to restart. */
  lastContainerStatuses: Readonly<Record<string, ContainerSnapshot>>;
  /** Images of containers with a lower launch priority, which wait until the ones before them have started. */
  nextContainerImages: Readonly<Record<string, string>>;
}

const isStringRecord = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && Object.values(value).every((item) => typeof item === 'string');

const isSnapshots = (value: unknown): value is Record<string, Partial<ContainerSnapshot>> =>
  typeof value === 'object' && value !== null && Object.values(value).every(isStringRecord);

/** The pod's in-place state; undefined if it has none that can be read. */
export const readInPlaceState = (pod: Pod): InPlaceState | undefined => {
  const text = pod.metadata?.annotations?.[IN_PLACE_STATE];
  if (text === undefined) return undefined;
  try {
    const { revision, updateTimestamp, lastContainerStatuses, nextContainerImages } = JSON.parse(text) as Record<
      string,
      unknown
    >;
    if (typeof revision !== 'string' || typeof updateTimestamp !== 'string') return undefined;
    const snapshots = isSnapshots(lastContainerStatuses) ? Object.entries(lastContainerStatuses) : [];
    return {
      revision,
      updateTimestamp,
      lastContainerStatuses: Object.fromEntries(
        // OpenKruise stores the image ID alone.
        snapshots.map(([name, snapshot]) => [name, { imageID: '', containerID: '', startedAt: '', ...snapshot }]),
      ),
      nextContainerImages: isStringRecord(nextContainerImages) ? nextContainerImages : {},
    };
  } catch {
    return undefined;
  }
};

/** Whether the status reflects the current spec; undefined where the kubelet is too old to report it. */
export const isStatusUpToDate = ({ metadata, status }: Pod): boolean | undefined => {
  // The type package is older than this field.
  const { observedGeneration } = (status ?? {}) as { observedGeneration?: number };
  return observedGeneration === undefined ? undefined : observedGeneration >= (metadata?.generation ?? 0);
};

const IMAGE_IN_MESSAGE = /\bimage "([^"]+)"/;

/** Whether the status of a container whose image has changed still describes the container before the change. */
const isStaleStatus = (pod: Pod, container: ContainerStatus, before: ContainerSnapshot): boolean => {
  if (isStatusUpToDate(pod) === false) return true;
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  const wanted = containers.find(({ name }) => name === container.name)?.image;
  // A crashing container gets a new ID with each try, possibly just before the kubelet learns of the change.
  if (container.image === before.image && before.image !== wanted) return true;
  if ((container.containerID ?? '') !== before.containerID) return false;
  // During a pull the ID, if any, is of the old container; only the message says which image is meant.
  const { reason = '', message = '' } = container.state?.waiting ?? {};
  if (reason === '' || reason === 'CrashLoopBackOff') return before.containerID !== '';
  const [, named] = IMAGE_IN_MESSAGE.exec(message) ?? [];
  return named !== undefined && wanted !== named;
};

/** The termination caused by the change says nothing about the container that it started. */
const withoutStaleTermination = (
  container: ContainerStatus,
  before: ContainerSnapshot | undefined,
): ContainerStatus => {
  const ended = container.lastState?.terminated?.containerID ?? '';
  return ended !== '' && ended === before?.containerID ? { ...container, lastState: {} } : container;
};

/**
 * The pod without the statuses of containers from before its in-place update: trouble that they had does not belong to the
 * new revision.
 */
export const withoutStaleStatuses = (pod: Pod): Pod => {
  const state = readInPlaceState(pod);
  if (!state || !pod.status) return pod;
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status;
  const fresh = (container: ContainerStatus): ContainerStatus[] => {
    if (container.name in state.nextContainerImages) return [];
    const before = state.lastContainerStatuses[container.name];
    return before && isStaleStatus(pod, container, before) ? [] : [withoutStaleTermination(container, before)];
  };
  return {
    ...pod,
    status: {
      ...pod.status,
      containerStatuses: containerStatuses.flatMap(fresh),
      initContainerStatuses: initContainerStatuses.flatMap(fresh),
    },
  };
};
