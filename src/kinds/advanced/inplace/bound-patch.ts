import type { ContainerStatus, Pod } from 'kubernetes-types/core/v1.d.ts';
import { gateCondition } from '../../../rollout/index.ts';
import { gate, ownKey } from '../../../words/index.ts';
import { HASH_LABEL } from '../revisions/history.ts';
import type { PodPatch } from './step.ts';

type Operation =
  | { op: 'test'; path: string; value: string | null }
  | { op: 'add' | 'replace'; path: string; value: string }
  | { op: 'remove'; path: string };

const pathOf = (...steps: readonly (string | number)[]): string =>
  steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const test = (value: string | null, ...steps: readonly (string | number)[]): Operation => ({
  op: 'test',
  path: pathOf(...steps),
  value,
});

/** `remove` fails where nothing is. */
const change = (entries: Readonly<Record<string, string | null>>, ...steps: readonly string[]): Operation[] =>
  Object.entries(entries).flatMap(([key, value]): Operation[] => {
    const path = pathOf(...steps, key);
    const add: Operation = { op: 'add', path, value: value ?? '' };
    return value === null ? [add, { op: 'remove', path }] : [add];
  });

const STATUSES = { containers: 'containerStatuses', initContainers: 'initContainerStatuses' } as const;

/**
 * The container that runs, as the mark of it says: if another one had started since, it would be taken for the updated one. Undefined:
 * none was reported.
 */
const testRunning = (pod: Pod, list: keyof typeof STATUSES, name: string): Operation[] | undefined => {
  const statuses: readonly ContainerStatus[] = pod.status?.[STATUSES[list]] ?? [];
  const index = statuses.findIndex((status) => status.name === name);
  const { containerID } = statuses[index] ?? {};
  if (containerID === undefined || containerID === '') return undefined;
  return [
    test(name, 'status', STATUSES[list], index, 'name'),
    test(containerID, 'status', STATUSES[list], index, 'containerID'),
  ];
};

const changeImage = (
  pod: Pod,
  list: keyof typeof STATUSES,
  { name, image }: { name: string; image: string },
): Operation[] | undefined => {
  const index = pod.spec?.[list]?.findIndex((container) => container.name === name) ?? -1;
  const before = pod.spec?.[list]?.[index]?.image;
  const running = testRunning(pod, list, name);
  if (before === undefined || !running) return undefined;
  const path = pathOf('spec', list, index, 'image');
  return [
    test(name, 'spec', list, index, 'name'),
    test(before, 'spec', list, index, 'image'),
    ...running,
    { op: 'replace', path, value: image },
  ];
};

/**
 * The same patch, as a JSON patch that is bound to what the pod is in place of its version: the API server carries it out in whatever
 * version the pod has by then, as long as nobody but its kubelet has written to it. It is the same pod, of the same revision; the
 * gate is closed, by the same write; the containers and images to change are the same; and no fence was written, nor is the pod being
 * deleted. `gateAt`: where the gate is in the list of conditions. Undefined: the pod lacks something that it would be bound to.
 */
export const boundToContent = (
  pod: Pod,
  { metadata, spec = {} }: PodPatch,
  gateAt: number,
): readonly object[] | undefined => {
  const { uid, labels = {}, annotations } = pod.metadata ?? {};
  const revision = labels[HASH_LABEL];
  const { status, message = '' } = gateCondition(pod, gate.inPlace) ?? {};
  // Without annotations, there is nothing to add one to.
  if (uid === undefined || revision === undefined || !annotations || status !== 'False' || message === '' || gateAt < 0)
    return undefined;
  const images = (['containers', 'initContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map((container) => changeImage(pod, list, container)),
  );
  if (images.includes(undefined)) return undefined;
  return [
    test(uid, 'metadata', 'uid'),
    test(null, 'metadata', 'deletionTimestamp'),
    test(revision, 'metadata', 'labels', HASH_LABEL),
    test(annotations[ownKey.fence] ?? null, 'metadata', 'annotations', ownKey.fence),
    test(gate.inPlace, 'status', 'conditions', gateAt, 'type'),
    test('False', 'status', 'conditions', gateAt, 'status'),
    test(message, 'status', 'conditions', gateAt, 'message'),
    ...images.flatMap((operations) => operations ?? []),
    ...change(metadata.labels ?? {}, 'metadata', 'labels'),
    ...change(metadata.annotations, 'metadata', 'annotations'),
  ];
};
