import { hash as digestOf } from 'node:crypto';
import type { Container, ContainerStatus, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import type { StoredPod } from '../resources.ts';

/** A restartable init container, which runs for the lifetime of the pod. */
export const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

/** The long-running containers of a pod: sidecars, then containers. */
export const runningContainers = (spec: PodSpec | undefined): Container[] => [
  ...(spec?.initContainers ?? []).filter(isSidecar),
  ...(spec?.containers ?? []),
];

const sidecarNames = ({ spec }: StoredPod): ReadonlySet<string> =>
  new Set((spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name));

/** The statuses of sidecars and containers; empty before the pod is admitted. */
export const statusesOf = (pod: StoredPod): readonly ContainerStatus[] => {
  const sidecars = sidecarNames(pod);
  const sidecarStatuses = (pod.status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  return [...sidecarStatuses, ...(pod.status?.containerStatuses ?? [])];
};

/** Both status lists, with the statuses of sidecars and containers changed. */
export const withStatuses = (pod: StoredPod, change: (status: ContainerStatus) => object): object => {
  const sidecars = sidecarNames(pod);
  const { initContainerStatuses, containerStatuses = [] } = pod.status ?? {};
  return {
    ...(initContainerStatuses && {
      initContainerStatuses: initContainerStatuses.map((each) => (sidecars.has(each.name) ? change(each) : each)),
    }),
    containerStatuses: containerStatuses.map(change),
  };
};

const partOf = (pod: StoredPod, name: string): Container | undefined =>
  runningContainers(pod.spec).find((part) => part.name === name);

/** The image that the pod's spec asks for. */
export const imageFor = (pod: StoredPod, { name, image }: ContainerStatus): string => partOf(pod, name)?.image ?? image;

/** The status fields of the resources that the spec asks for. */
export const resourcesFor = (pod: StoredPod, name: string): object => {
  const resources = partOf(pod, name)?.resources ?? {};
  return { resources, ...(resources.requests && { allocatedResources: resources.requests }) };
};

const sorted = (amounts: object | undefined): string =>
  JSON.stringify(Object.entries(amounts ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Whether the container runs with other resources than the spec asks for. */
export const isResized = (pod: StoredPod, status: ContainerStatus): boolean => {
  const { resources } = status;
  if (!status.state?.running || resources === undefined) return false;
  const wanted = partOf(pod, status.name)?.resources;
  return sorted(wanted?.limits) !== sorted(resources.limits) || sorted(wanted?.requests) !== sorted(resources.requests);
};

/** Whether the container runs another image than the spec asks for. */
export const isOutdated = (pod: StoredPod, status: ContainerStatus): boolean =>
  status.state?.running !== undefined && imageFor(pod, status) !== status.image;

const sha256 = (text: string): string => digestOf('sha256', text, 'hex');

const images = new Map<string, string>();

/** `app:v2.is-v1` is an alias of `app:v1`. */
const realName = (image: string): string => image.replace(/:[^:/]*\.is-/, ':');

/** The runtime's ID of an image, derived from its name and from what that means on the node. */
export const imageId = (image: string, content = ''): string => {
  const named = content === '' ? image : `${image} ${content}`;
  let id = images.get(named);
  if (id === undefined) {
    id = `sha256:${sha256(realName(named))}`;
    images.set(named, id);
  }
  return id;
};

export const containerId = (podUid: string, container: string, restarts: number): string =>
  `containerd://${sha256(`${podUid}/${container}/${restarts}`)}`;

/** A number in [0, 1) that depends only on the pod and the purpose. */
export const podJitter = (podUid: string, purpose: string): number => {
  let hash = 0x811c9dc5;
  for (const text of [podUid, purpose])
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // The last characters of a UID vary most and affect only the low bits.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
};
