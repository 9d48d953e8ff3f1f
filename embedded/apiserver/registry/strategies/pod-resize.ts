import { forbiddenField, invalidValue, type StatusCause } from '../../errors.ts';
import { arrayOf, at, equal, type Json, recordOf, withPath } from '../../json.ts';
import { qosClass } from './pod-defaults.ts';
import { validatePodSpec } from './pod-validation.ts';

const LISTS = ['containers', 'initContainers'] as const;
const RESIZABLE = ['cpu', 'memory'];

const containersOf = (pod: Json, list: string): Json[] => arrayOf(at(pod, 'spec', list)).map(recordOf);

/** The previous containers with the sent resources; the sent ones if they don't correspond. */
const resized = (sent: Json, previous: Json, list: string): unknown => {
  const given = containersOf(sent, list);
  const before = containersOf(previous, list);
  if (given.some(({ name }, index) => name !== before[index]?.name)) return given;
  return before.map((container, index) => {
    const one = given[index] ?? {};
    return withPath(withPath(container, ['resources'], one.resources ?? {}), ['resizePolicy'], one.resizePolicy);
  });
};

/** Updates of /resize change only the containers' resources. */
export const applyResize = (previous: Json, sent: Json): Json => {
  const meta = recordOf(previous.metadata);
  const metadata = withPath(meta, ['managedFields'], at(sent, 'metadata', 'managedFields'));
  if (LISTS.some((list) => containersOf(sent, list).length !== containersOf(previous, list).length)) return sent;
  let spec = recordOf(previous.spec);
  for (const list of LISTS) if (spec[list] !== undefined) spec = { ...spec, [list]: resized(sent, previous, list) };
  return { ...previous, metadata, spec };
};

/** Whether the node supports resize: its kubelet then reports resources. */
const isSupported = (pod: Json): boolean => {
  const running = arrayOf(at(pod, 'status', 'containerStatuses')).find(
    (each) => at(each, 'state', 'running') !== undefined,
  );
  return running === undefined || at(running, 'resources') !== undefined;
};

const orderCauses = (pod: Json, previous: Json): StatusCause[] =>
  LISTS.flatMap((list) => {
    const [now, before] = [containersOf(pod, list), containersOf(previous, list)];
    if (now.length !== before.length)
      return [forbiddenField(`spec.${list}`, `${list} may not be added or removed on resize`)];
    return now.flatMap(({ name }, index) =>
      name === before[index]?.name
        ? []
        : [forbiddenField(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`)],
    );
  });

const removed = (now: Json, before: Json): boolean => Object.keys(before).some((name) => now[name] === undefined);

const removals = (now: Json, before: Json, field: string): StatusCause[] =>
  (['requests', 'limits'] as const).flatMap((kind) =>
    removed(recordOf(at(now, 'resources', kind)), recordOf(at(before, 'resources', kind)))
      ? [forbiddenField(`${field}.resources.${kind}`, `resource ${kind} cannot be removed`)]
      : [],
  );

const isSidecar = (container: Json): boolean => container.restartPolicy === 'Always';

/** The container with the previous amounts: any remaining difference is not allowed. */
const frozen = (container: Json, before: Json): Json => {
  const list = (kind: string): unknown => {
    const old = at(before, 'resources', kind);
    if (old === undefined) return undefined;
    const others = Object.entries(recordOf(at(container, 'resources', kind))).filter(
      ([name]) => !RESIZABLE.includes(name),
    );
    const amounts = Object.entries(recordOf(old)).filter(([name]) => RESIZABLE.includes(name));
    return Object.fromEntries([...others, ...amounts]);
  };
  const resources = Object.fromEntries(
    ['limits', 'requests'].flatMap((kind) => {
      const value = list(kind);
      return value === undefined ? [] : [[kind, value]];
    }),
  );
  return { ...container, resources };
};

const contentCauses = (pod: Json, previous: Json): StatusCause[] => {
  const of = (list: string, why: (container: Json) => string): StatusCause[] =>
    containersOf(pod, list).flatMap((container, index) => {
      const before = containersOf(previous, list)[index] ?? {};
      const now = list === 'containers' || isSidecar(container) ? frozen(container, before) : container;
      return equal(now, before) ? [] : [forbiddenField('spec', why(container))];
    });
  return [
    ...of('containers', () => 'only cpu and memory resources are mutable'),
    ...of('initContainers', (container) =>
      isSidecar(container)
        ? 'only cpu and memory resources for sidecar containers are mutable'
        : 'resources for non-sidecar init containers are immutable',
    ),
  ];
};

const hasOwnResources = (pod: Json): boolean =>
  ['requests', 'limits'].some((kind) => Object.keys(recordOf(at(pod, 'spec', 'resources', kind))).length > 0);

/** Validates a resize; errors are in the real server's order. */
export const validatePodResize = (pod: Json, previous: Json): StatusCause[] => {
  if (hasOwnResources(pod)) return [forbiddenField('', 'pods with pod-level resources cannot be resized')];
  const causes = validatePodSpec(recordOf(pod.spec), 'spec', true);
  const before = at(previous, 'status', 'qosClass');
  if (qosClass(recordOf(pod.spec)) !== before)
    causes.push(invalidValue('spec', before, 'Pod QOS Class may not change as a result of resizing'));
  if (!isSupported(previous)) causes.push(forbiddenField('spec', 'Pod running on node without support for resize'));
  const order = orderCauses(pod, previous);
  if (order.length > 0) return [...causes, ...order];
  for (const list of ['initContainers', 'containers'])
    for (const [index, container] of containersOf(previous, list).entries())
      if (list === 'containers' || isSidecar(container))
        causes.push(...removals(containersOf(pod, list)[index] ?? {}, container, `spec.${list}[${index}]`));
  return [...causes, ...contentCauses(pod, previous)];
};
