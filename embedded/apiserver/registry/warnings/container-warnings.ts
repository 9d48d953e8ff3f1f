import { arrayOf, at, equal, isRecord, type Json, recordOf, textOf } from '../../json.ts';
import { APP_ARMOR, appArmorProfile } from '../strategies/app-armor.ts';
import { isWholeNumber } from '../strategies/quantity.ts';

/** A container of a pod, with its path. */
export interface ContainerAt {
  readonly container: Json;
  readonly field: string;
}

/** The containers of a pod in the order in which the API server visits them. */
export const containersOf = (spec: Json, here: string): readonly ContainerAt[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
    arrayOf(spec[list]).map((each, index) => ({ container: recordOf(each), field: `${here}.${list}[${index}]` })),
  );

export const fractional = (field: string, resource: string, amount: unknown): string =>
  `${field}[${resource}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`;

const amounts = ({ container, field }: ContainerAt): string[] =>
  ['memory', 'ephemeral-storage'].flatMap((resource) =>
    ['limits', 'requests'].flatMap((list) => {
      const amount = at(container, 'resources', list, resource);
      return isWholeNumber(amount) ? [] : [fractional(`${field}.resources.${list}`, resource, amount)];
    }),
  );

const variables = ({ container, field }: ContainerAt): string[] => {
  const seen = new Set<string>();
  return arrayOf(container.env).flatMap((each, index) => {
    const name = textOf(at(each, 'name'));
    const value = textOf(at(each, 'value'));
    const isFirst = !seen.has(name);
    seen.add(name);
    const reference = `$(${name})`;
    // A variable may extend its own earlier value.
    const extendsIt = !isRecord(at(each, 'valueFrom')) && value !== reference && value.includes(reference);
    return isFirst || extendsIt
      ? []
      : [
          `${field}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
        ];
  });
};

const SECCOMP = 'container.seccomp.security.alpha.kubernetes.io/';

const profiles = ({ container }: ContainerAt, spec: Json, annotations: Json, path: string): string[] => {
  const name = textOf(container.name);
  const found: string[] = [];
  if (`${SECCOMP}${name}` in annotations && !isRecord(at(container, 'securityContext', 'seccompProfile')))
    found.push(
      `${path}metadata.annotations[${SECCOMP}${name}]: non-functional in v1.27+; use the "seccompProfile" field instead`,
    );
  const annotation = annotations[`${APP_ARMOR}${name}`];
  if (annotation === undefined || isRecord(at(container, 'securityContext', 'appArmorProfile'))) return found;
  const ofPod = at(spec, 'securityContext', 'appArmorProfile');
  const meant = appArmorProfile(textOf(annotation));
  if (meant === undefined || ofPod === undefined || !equal(ofPod, meant))
    found.push(
      `${path}metadata.annotations[${APP_ARMOR}${name}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    );
  return found;
};

/** Warnings about one container. `path` is where the pod's metadata is. */
export const containerWarnings = (each: ContainerAt, spec: Json, annotations: Json, path: string): string[] => [
  ...profiles(each, spec, annotations, path),
  ...amounts(each),
  ...variables(each),
];

interface Port {
  readonly field: string;
  readonly name: string;
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: string;
  readonly hostIP: string;
}

const portsOf = ({ container, field }: ContainerAt): readonly Port[] =>
  arrayOf(container.ports).map((each, index) => ({
    field: `${field}.ports[${index}]`,
    name: textOf(at(each, 'name')),
    hostPort: Number(at(each, 'hostPort') ?? 0),
    containerPort: Number(at(each, 'containerPort') ?? 0),
    protocol: textOf(at(each, 'protocol')),
    hostIP: textOf(at(each, 'hostIP')),
  }));

/** How two ports of the same number and protocol get in each other's way. */
const clash = (one: Port, other: Port): string | undefined => {
  if (one.hostIP === other.hostIP && one.hostPort === other.hostPort) return 'duplicate';
  if (one.hostPort === 0 || other.hostPort === 0) return 'overlapping';
  const isOneOpen = (one.hostIP === '') !== (other.hostIP === '');
  return one.hostPort === other.hostPort && isOneOpen ? 'dangerously ambiguous' : undefined;
};

/** A port as Go prints it. */
const goPort = ({ name, hostPort, containerPort, protocol, hostIP }: Port): string =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;

export const portWarnings = (containers: readonly ContainerAt[]): string[] => {
  const all = containers.flatMap(portsOf);
  const definitions = all.flatMap((port, index) => [
    ...(port.hostIP !== '' && port.hostPort === 0
      ? [`${port.field}: hostIP set without hostPort: ${goPort(port)}`]
      : []),
    ...all.slice(0, index).flatMap((other) => {
      if (other.containerPort !== port.containerPort || other.protocol !== port.protocol) return [];
      const how = clash(port, other);
      return how === undefined ? [] : [`${port.field}: ${how} port definition with ${other.field}`];
    }),
  ]);
  const names = all.flatMap((port, index) => {
    const first = all.findIndex(({ name }) => name === port.name);
    const other = all[first]?.field ?? '';
    return port.name === '' || first === index
      ? []
      : [
          `${port.field}: duplicate port name ${JSON.stringify(port.name)} with ${other}, services and probes that select ports by name will use ${other}`,
        ];
  });
  return [...definitions, ...names];
};
