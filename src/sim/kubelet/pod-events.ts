import type { KeptPod } from '../resources.ts';
import type { Step } from './step.ts';

export interface Told {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  container?: string;
}

const eachContainer = (pod: KeptPod, tell: (name: string, image: string) => Omit<Told, 'container'>[]): Told[] =>
  (pod.spec?.containers ?? []).flatMap(({ name, image = '' }) =>
    tell(name, image).map((told) => ({ ...told, container: name })),
  );

const normal = (reason: string, message: string): Omit<Told, 'container'> => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string): Omit<Told, 'container'> => ({ type: 'Warning', reason, message });

const isStarting = (pod: KeptPod): boolean =>
  pod.status?.containerStatuses?.some(({ state }) => state?.waiting?.reason !== undefined) ?? false;

/** The Events that a kubelet writes about a step, in the words that users know. */
export const eventsOf = (step: Step, pod: KeptPod): Told[] => {
  const { name: podName, namespace, uid } = pod.metadata;
  const backOff = (name: string): Omit<Told, 'container'> =>
    warning('BackOff', `Back-off restarting failed container ${name} in pod ${podName}_${namespace}(${uid})`);
  switch (step) {
    case 'start':
    case 'crash':
      return isStarting(pod)
        ? eachContainer(pod, (name, image) => [
            normal('Pulled', `Container image "${image}" already present on machine`),
            normal('Created', `Created container: ${name}`),
            normal('Started', `Started container ${name}`),
            ...(step === 'crash' ? [backOff(name)] : []),
          ])
        : eachContainer(pod, (name) => [backOff(name)]);
    case 'crash-again':
    case 'die':
      return eachContainer(pod, (name) => [backOff(name)]);
    case 'fail-probe':
      return eachContainer(pod, () => [warning('Unhealthy', 'Readiness probe failed: the simulated probe says no')]);
    case 'fail-pull':
      return eachContainer(pod, (_, image) => [
        normal('Pulling', `Pulling image "${image}"`),
        warning('Failed', `Failed to pull image "${image}": not found`),
        warning('Failed', 'Error: ErrImagePull'),
      ]);
    case 'back-off-pull':
      return eachContainer(pod, (_, image) => [
        normal('BackOff', `Back-off pulling image "${image}"`),
        warning('Failed', 'Error: ImagePullBackOff'),
      ]);
    case 'fail-start':
      return eachContainer(pod, (name, image) => [
        normal('Pulled', `Successfully pulled image "${image}"`),
        normal('Created', `Created container: ${name}`),
        warning('Failed', 'Error: StartError'),
      ]);
    case 'fail':
      return [warning('Evicted', 'The node was low on resource: ephemeral-storage.')];
    case 'change-image':
      return eachContainer(pod, (name) => [
        normal('Killing', `Container ${name} definition changed, will be restarted`),
      ]);
    case 'stop':
      return eachContainer(pod, (name) => [normal('Killing', `Stopping container ${name}`)]);
    case 'admit':
    case 'probe':
    case 'kill-node':
    case 'remove':
      return [];
  }
};
