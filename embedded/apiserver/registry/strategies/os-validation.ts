import { forbiddenField, notSupported, requiredField, type StatusCause } from '../../errors.ts';
import { arrayOf, at, isRecord, type Json, textOf } from '../../json.ts';

const SYSTEMS = ['linux', 'windows'];
const LISTS = ['initContainers', 'containers', 'ephemeralContainers'];

// What only Linux has, in the order in which the API server reports it.
const OF_POD = [
  'securityContext.appArmorProfile',
  'securityContext.seLinuxOptions',
  'hostUsers',
  'hostPID',
  'hostIPC',
  'securityContext.seccompProfile',
  'securityContext.fsGroup',
  'securityContext.fsGroupChangePolicy',
  'securityContext.sysctls',
  'shareProcessNamespace',
  'securityContext.runAsUser',
  'securityContext.runAsGroup',
  'securityContext.supplementalGroups',
  'securityContext.supplementalGroupsPolicy',
  'securityContext.seLinuxChangePolicy',
] as const;
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
const isSet = (spec: Json, path: string): boolean => {
  const value = at(spec, ...path.split('.'));
  return path === 'hostPID' || path === 'hostIPC' ? value === true : value !== undefined;
};

const forWindows = (spec: Json, field: string): StatusCause[] => [
  ...OF_POD.filter((path) => isSet(spec, path)).map((path) => forbiddenField(`${field}.${path}`, LINUX_ONLY)),
  ...ofContainers(spec, field, (context, here) =>
    OF_CONTAINER.filter((name) => at(context, name) !== undefined).map((name) =>
      forbiddenField(`${here}.${name}`, LINUX_ONLY),
    ),
  ),
];

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
