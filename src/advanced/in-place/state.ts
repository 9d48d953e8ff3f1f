import type { Container, ContainerStatus, Pod } from 'kubernetes-types/core/v1.d.ts';

/** OpenKruise's key; what it keeps there is a part of what we keep. */
export const STATE_ANNOTATION = 'apps.kruise.io/inplace-update-state';

/** What a container was like before it was changed: by this it is recognised as started anew. */
export interface ContainerMark {
  imageID: string;
  containerID: string;
  /** RFC 3339; empty when it was not running. */
  startedAt: string;
}

/** Kept on the pod itself, so that whoever leads next goes on from it. */
export interface InPlaceState {
  /** Hash of the revision that the pod is being brought to. */
  revision: string;
  /** RFC 3339. */
  updateTimestamp: string;
  /** Of the containers whose image was changed and that have to start anew. */
  lastContainerStatuses: Readonly<Record<string, ContainerMark>>;
  /** Images for containers of lower launch priority, which wait until those before them have started. */
  nextContainerImages: Readonly<Record<string, string>>;
}

const isTexts = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && Object.values(value).every((item) => typeof item === 'string');

const isMarks = (value: unknown): value is Record<string, Partial<ContainerMark>> =>
  typeof value === 'object' && value !== null && Object.values(value).every(isTexts);

/** The state that a pod carries; undefined when it has none that can be read. */
export const readState = (pod: Pod): InPlaceState | undefined => {
  const text = pod.metadata?.annotations?.[STATE_ANNOTATION];
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

const statusesOf = ({ status }: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

export const statusOf = (pod: Pod, container: string): ContainerStatus | undefined =>
  statusesOf(pod).find(({ name }) => name === container);

export const markOf = (pod: Pod, container: string): ContainerMark => {
  const status = statusOf(pod, container);
  return {
    imageID: status?.imageID ?? '',
    containerID: status?.containerID ?? '',
    startedAt: status?.state?.running?.startedAt ?? '',
  };
};

/**
 * Whether a container runs that is not the one of before. The ID of the image says nothing: a tag that was moved, or two
 * names of one image, leave it as it was. OpenKruise's marks have nothing else, and then it must have changed.
 */
export const hasRestarted = (pod: Pod, container: string, before: ContainerMark): boolean => {
  const now = markOf(pod, container);
  if (now.startedAt === '' || now.containerID === '') return false;
  if (before.containerID === '' && before.imageID !== '') return now.imageID !== before.imageID;
  return now.containerID !== before.containerID;
};

const PRIORITY = 'KRUISE_CONTAINER_PRIORITY';

const priorityOf = ({ env = [] }: Container): number => {
  const priority = Number(env.find(({ name }) => name === PRIORITY)?.value ?? 0);
  return Number.isFinite(priority) ? priority : 0;
};

/** The images in the order of their containers' launch priority, the highest first: each map is one batch. */
export const inLaunchOrder = (
  containers: readonly Container[],
  images: Readonly<Record<string, string>>,
): readonly Readonly<Record<string, string>>[] => {
  const priorities = new Map(containers.map((container) => [container.name, priorityOf(container)]));
  const batches = new Map<number, Record<string, string>>();
  for (const [name, image] of Object.entries(images)) {
    const priority = priorities.get(name) ?? 0;
    batches.set(priority, { ...batches.get(priority), [name]: image });
  }
  return [...batches].toSorted(([a], [b]) => b - a).map(([, batch]) => batch);
};
