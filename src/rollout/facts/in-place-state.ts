import type { ContainerStatus, Pod } from 'kubernetes-types/core/v1.d.ts';

/** OpenKruise's key; what it keeps there is a part of what we keep. */
export const IN_PLACE_STATE = 'apps.kruise.io/inplace-update-state';

/** What a container was like before it was changed: by this it is recognised as started anew. */
export interface ContainerSnapshot {
  imageID: string;
  containerID: string;
  /** RFC 3339; empty when it was not running. */
  startedAt: string;
  /** The image that it was started from, as the spec named it. OpenKruise does not say. */
  image?: string;
}

/** Kept on the pod itself, so that whoever leads next goes on from it. */
export interface InPlaceState {
  /** Hash of the revision that the pod is being brought to. */
  revision: string;
  /** RFC 3339. */
  updateTimestamp: string;
  /** Of the containers whose image was changed and that have to start anew. */
  lastContainerStatuses: Readonly<Record<string, ContainerSnapshot>>;
  /** Images for containers of lower launch priority, which wait until those before them have started. */
  nextContainerImages: Readonly<Record<string, string>>;
}

const isTexts = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && Object.values(value).every((item) => typeof item === 'string');

const isMarks = (value: unknown): value is Record<string, Partial<ContainerSnapshot>> =>
  typeof value === 'object' && value !== null && Object.values(value).every(isTexts);

/** The state that a pod carries; undefined when it has none that can be read. */
export const readInPlaceState = (pod: Pod): InPlaceState | undefined => {
  const text = pod.metadata?.annotations?.[IN_PLACE_STATE];
  if (text === undefined) return undefined;
  try {
    const { revision, updateTimestamp, lastContainerStatuses, nextContainerImages } = JSON.parse(text) as Record<
      string,
      unknown
    >;
    if (typeof revision !== 'string' || typeof updateTimestamp !== 'string') return undefined;
    const marks = isMarks(lastContainerStatuses) ? Object.entries(lastContainerStatuses) : [];
    return {
      revision,
      updateTimestamp,
      lastContainerStatuses: Object.fromEntries(
        // OpenKruise keeps the image's ID alone.
        marks.map(([name, mark]) => [name, { imageID: '', containerID: '', startedAt: '', ...mark }]),
      ),
      nextContainerImages: isTexts(nextContainerImages) ? nextContainerImages : {},
    };
  } catch {
    return undefined;
  }
};

/** Whether the status is by the spec as it is now; undefined where the kubelet does not say so: only later ones do. */
export const isStatusUpToDate = ({ metadata, status }: Pod): boolean | undefined => {
  // The type package is older than this field.
  const { observedGeneration } = (status ?? {}) as { observedGeneration?: number };
  return observedGeneration === undefined ? undefined : observedGeneration >= (metadata?.generation ?? 0);
};

const IMAGE_IN_WORDS = /\bimage "([^"]+)"/;

/** Whether what is said of a container whose image was changed is still of the one before. */
const isStaleStatus = (pod: Pod, container: ContainerStatus, before: ContainerSnapshot): boolean => {
  if (isStatusUpToDate(pod) === false) return true;
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  const wanted = containers.find(({ name }) => name === container.name)?.image;
  // One that crashes gets another ID with each try, the last of them maybe just before the kubelet hears of the change.
  if (container.image === before.image && before.image !== wanted) return true;
  if ((container.containerID ?? '') !== before.containerID) return false;
  // While an image is pulled, it is the container of before that has an ID, or there is none; the words say which image is meant.
  const { reason = '', message = '' } = container.state?.waiting ?? {};
  if (reason === '' || reason === 'CrashLoopBackOff') return before.containerID !== '';
  const [, meant] = IMAGE_IN_WORDS.exec(message) ?? [];
  return meant !== undefined && wanted !== meant;
};

/** The run that the change ended says nothing of the one that it began. */
const withoutStaleTermination = (
  container: ContainerStatus,
  before: ContainerSnapshot | undefined,
): ContainerStatus => {
  const ended = container.lastState?.terminated?.containerID ?? '';
  return ended !== '' && ended === before?.containerID ? { ...container, lastState: {} } : container;
};

/**
 * The pod without what its status says of containers as they were before the change that it is in: the trouble that they
 * had is none of the revision that it has now.
 */
export const withoutStaleStatuses = (pod: Pod): Pod => {
  const state = readInPlaceState(pod);
  if (!state || !pod.status) return pod;
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status;
  const ofNow = (container: ContainerStatus): ContainerStatus[] => {
    if (container.name in state.nextContainerImages) return [];
    const before = state.lastContainerStatuses[container.name];
    return before && isStaleStatus(pod, container, before) ? [] : [withoutStaleTermination(container, before)];
  };
  return {
    ...pod,
    status: {
      ...pod.status,
      containerStatuses: containerStatuses.flatMap(ofNow),
      initContainerStatuses: initContainerStatuses.flatMap(ofNow),
    },
  };
};
