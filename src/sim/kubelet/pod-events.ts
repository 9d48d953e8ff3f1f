import type { ContainerStatus } from 'kubernetes-types/core/v1.d.ts';
import type { StoredPod } from '../resources.ts';
import { imageFor, isOutdated, statusesOf } from './containers.ts';
import type { PodAction } from './pod-actions.ts';

export interface PodEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  container?: string;
}

type EventsOf = (name: string, image: string) => Omit<PodEvent, 'container'>[];

const eachContainer = (
  pod: StoredPod,
  eventsOf: EventsOf,
  concerns: (status: ContainerStatus) => boolean = () => true,
): PodEvent[] =>
  statusesOf(pod)
    .filter(concerns)
    .flatMap((status) =>
      eventsOf(status.name, imageFor(pod, status)).map((event) => ({ ...event, container: status.name })),
    );

const normal = (reason: string, message: string): Omit<PodEvent, 'container'> => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string): Omit<PodEvent, 'container'> => ({
  type: 'Warning',
  reason,
  message,
});

const isWaiting = ({ state }: ContainerStatus): boolean => state?.waiting?.reason !== undefined;

/** The Events that a kubelet writes about an action. */
export const eventsAfter = (action: PodAction, pod: StoredPod): PodEvent[] => {
  const { name: podName, namespace, uid } = pod.metadata;
  const backOff = (name: string): Omit<PodEvent, 'container'> =>
    warning('BackOff', `Back-off restarting failed container ${name} in pod ${podName}_${namespace}(${uid})`);
  switch (action) {
    case 'start':
    case 'crash':
      return statusesOf(pod).some(isWaiting)
        ? eachContainer(
            pod,
            (name, image) => [
              normal('Pulled', `Container image "${image}" already present on machine`),
              normal('Created', `Created container: ${name}`),
              normal('Started', `Started container ${name}`),
              ...(action === 'crash' ? [backOff(name)] : []),
            ],
            isWaiting,
          )
        : eachContainer(pod, (name) => [backOff(name)]);
    case 'crash-again':
    case 'die':
      return eachContainer(pod, (name) => [backOff(name)]);
    case 'fail-probe':
      return eachContainer(pod, () => [warning('Unhealthy', 'Readiness probe failed: the simulated probe says no')]);
    case 'fail-pull':
      return eachContainer(
        pod,
        (_, image) => [
          normal('Pulling', `Pulling image "${image}"`),
          warning('Failed', `Failed to pull image "${image}": not found`),
          warning('Failed', 'Error: ErrImagePull'),
        ],
        isWaiting,
      );
    case 'back-off-pull':
      return eachContainer(
        pod,
        (_, image) => [
          normal('BackOff', `Back-off pulling image "${image}"`),
          warning('Failed', 'Error: ImagePullBackOff'),
        ],
        isWaiting,
      );
    case 'fail-start':
      return eachContainer(pod, (name, image) => [
        normal('Pulled', `Successfully pulled image "${image}"`),
        normal('Created', `Created container: ${name}`),
        warning('Failed', 'Error: StartError'),
      ]);
    case 'fail':
      return [warning('Evicted', 'The node was low on resource: ephemeral-storage.')];
    case 'change-image':
      return eachContainer(
        pod,
        (name) => [normal('Killing', `Container ${name} definition changed, will be restarted`)],
        (status) => isOutdated(pod, status),
      );
    case 'stop':
      return eachContainer(pod, (name) => [normal('Killing', `Stopping container ${name}`)]);
    case 'admit':
    case 'probe':
    case 'gate':
    case 'begin-resize':
    case 'resize':
    case 'end-resize':
    case 'refuse-resize':
    case 'kill-node':
    case 'remove':
      return [];
  }
};
