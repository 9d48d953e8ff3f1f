import type { Container, ContainerStatus, Pod } from 'kubernetes-types/core/v1.d.ts';
import { type ContainerSnapshot, isStatusUpToDate } from '../../../rollout/index.ts';
import { updatableContainers } from './plan.ts';

const statusesOf = ({ status }: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

export const statusOf = (pod: Pod, container: string): ContainerStatus | undefined =>
  statusesOf(pod).find(({ name }) => name === container);

export const markOf = (pod: Pod, container: string): ContainerSnapshot => {
  const status = statusOf(pod, container);
  return {
    imageID: status?.imageID ?? '',
    containerID: status?.containerID ?? '',
    startedAt: status?.state?.running?.startedAt ?? '',
  };
};

/**
 * Does a new container run in place of the marked one? The image ID is no indication: it stays the same if a tag was moved or
 * two names refer to one image. Only marks by OpenKruise have nothing but an image ID, which then must have changed.
 */
export const hasRestarted = (pod: Pod, container: string, before: ContainerSnapshot): boolean => {
  const now = markOf(pod, container);
  if (isStatusUpToDate(pod) === false) return false;
  if (now.startedAt === '' || now.containerID === '') return false;
  if (before.containerID === '' && before.imageID !== '') return now.imageID !== before.imageID;
  return now.containerID !== before.containerID;
};

/** After this time the kubelet has noticed a change, unless the change was reverted before. */
const NOTICED_WITHIN_MS = 10_000;

/** When a change is known to have been reverted unnoticed, epoch ms; Infinity if it was not reverted. */
export const unnoticedAt = (pod: Pod, container: string, before: ContainerSnapshot, changedAt: number): number => {
  const wanted = updatableContainers(pod.spec).find(({ name }) => name === container)?.image;
  const now = markOf(pod, container);
  const isSame = now.startedAt !== '' && now.containerID === before.containerID;
  const seen = isStatusUpToDate(pod);
  if (before.image === undefined || before.image !== wanted || !isSame || seen === false)
    return Number.POSITIVE_INFINITY;
  return seen ? 0 : changedAt + NOTICED_WITHIN_MS;
};

const PRIORITY = 'KRUISE_CONTAINER_PRIORITY';

const priorityOf = ({ env = [] }: Container): number => {
  const priority = Number(env.find(({ name }) => name === PRIORITY)?.value ?? 0);
  return Number.isFinite(priority) ? priority : 0;
};

/** Groups the images into batches by the launch priority of their containers, highest first. */
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
