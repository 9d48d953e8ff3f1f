import { forbiddenField, notSupported, requiredField, type StatusCause } from '../../errors.ts';
import { arrayOf, at, isRecord, type Json, textOf } from '../../json.ts';

const SYSTEMS = ['linux', 'windows'];
const LISTS = ['initContainers', 'containers', 'ephemeralContainers'];

// What only Linux has, by where the API server reports it.
const OF_POD = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
] as const;
const OF_SPEC = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'] as const;
const OF_CONTAINER = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

type Visit = (context: unknown, field: string) => StatusCause[];

const ofContainers = (spec: Json, field: string, visit: Visit): StatusCause[] =>
  LISTS.flatMap((list) =>
    arrayOf(spec[list]).flatMap((each, index) =>
      visit(at(each, 'securityContext'), `${field}.${list}[${index}].securityContext`),
    ),
  );

const LINUX_ONLY = 'cannot be set for a windows pod';
/** Whether the API server takes a field for set: hostPID and hostIPC have no third value. */
const isSet = (spec: Json, name: string): boolean =>
  name === 'hostPID' || name === 'hostIPC' ? spec[name] === true : spec[name] !== undefined;

const forWindows = (spec: Json, field: string): StatusCause[] => {
  const forbidden =
    (names: readonly string[]): Visit =>
    (context, here) =>
      names
        .filter((name) => at(context, name) !== undefined)
        .map((name) => forbiddenField(`${here}.${name}`, LINUX_ONLY));
  return [
    ...forbidden(OF_POD)(spec.securityContext, `${field}.securityContext`),
    ...OF_SPEC.filter((name) => isSet(spec, name)).map((name) => forbiddenField(`${field}.${name}`, LINUX_ONLY)),
    ...ofContainers(spec, field, forbidden(OF_CONTAINER)),
  ];
};

const forLinux = (spec: Json, field: string): StatusCause[] => {
  const options: Visit = (context, here) =>
    isRecord(at(context, 'windowsOptions'))
      ? [forbiddenField(`${here}.windowsOptions`, 'windows options cannot be set for a linux pod')]
      : [];
  return [...options(spec.securityContext, `${field}.securityContext`), ...ofContainers(spec, field, options)];
};

/** What a pod may not set for the operating system that it names. */
export const validateOs = (spec: Json, field: string): StatusCause[] => {
  if (!isRecord(spec.os)) return [];
  const name = textOf(spec.os.name);
  if (name === '') return [requiredField(`${field}.os.name`)];
  if (!SYSTEMS.includes(name)) return [notSupported(`${field}.os`, name, SYSTEMS)];
  return name === 'windows' ? forWindows(spec, field) : forLinux(spec, field);
};
