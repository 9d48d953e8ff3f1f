import { invalidValue, notSupported, requiredField, type StatusCause } from '../../errors.ts';
import { arrayOf, at, isRecord, type Json, textOf } from '../../json.ts';
import { descendingPath } from './volume-validation.ts';

const MOST_ID = 2_147_483_647;

const idCauses = (value: unknown, field: string): StatusCause[] =>
  value === undefined || (Number(value) >= 0 && Number(value) <= MOST_ID)
    ? []
    : [invalidValue(field, value, `must be between 0 and ${MOST_ID}, inclusive`)];

const PROFILES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

const seccompCauses = (context: unknown, here: string): StatusCause[] => {
  const profile = at(context, 'seccompProfile');
  if (!isRecord(profile)) return [];
  const field = `${here}.seccompProfile`;
  const type = textOf(profile.type);
  const causes: StatusCause[] = [];
  if (type === '') causes.push(requiredField(`${field}.type`, 'type is required when seccompProfile is set'));
  else if (!PROFILES.includes(type)) causes.push(notSupported(`${field}.type`, type, PROFILES));
  if (type !== 'Localhost') return causes;
  const path = profile.localhostProfile;
  return typeof path === 'string'
    ? [...causes, ...descendingPath(path, `${field}.localhostProfile`)]
    : [...causes, requiredField(`${field}.localhostProfile`, 'must be set when seccomp type is Localhost')];
};

export const validatePodSecurity = (spec: Json, field: string): StatusCause[] => {
  const context = spec.securityContext;
  const here = `${field}.securityContext`;
  return [
    ...['fsGroup', 'runAsUser', 'runAsGroup'].flatMap((name) => idCauses(at(context, name), `${here}.${name}`)),
    ...arrayOf(at(context, 'supplementalGroups')).flatMap((group, index) =>
      idCauses(group, `${here}.supplementalGroups[${index}]`),
    ),
    ...(spec.shareProcessNamespace === true && spec.hostPID === true
      ? [
          invalidValue(
            `${here}.shareProcessNamespace`,
            true,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []),
    ...seccompCauses(context, here),
  ];
};

// The fields of Go's struct, which an error shows as a whole.
const GO_FIELDS = [
  'Capabilities',
  'Privileged',
  'SELinuxOptions',
  'WindowsOptions',
  'RunAsUser',
  'RunAsGroup',
  'RunAsNonRoot',
  'ReadOnlyRootFilesystem',
  'AllowPrivilegeEscalation',
  'ProcMount',
  'SeccompProfile',
  'AppArmorProfile',
];

const inGo = (context: Json): Json =>
  Object.fromEntries(
    GO_FIELDS.map((name) => {
      const value = context[name.startsWith('SE') ? 'seLinuxOptions' : `${name[0]?.toLowerCase()}${name.slice(1)}`];
      if (name === 'Capabilities' && isRecord(value))
        return [name, { Add: value.add ?? null, Drop: value.drop ?? null }];
      return [name, value ?? null];
    }),
  );

export const validateContainerSecurity = (container: Json, here: string): StatusCause[] => {
  const context = container.securityContext;
  if (!isRecord(context)) return [];
  const field = `${here}.securityContext`;
  const causes = [
    ...['runAsUser', 'runAsGroup'].flatMap((name) => idCauses(context[name], `${field}.${name}`)),
    ...seccompCauses(context, field),
  ];
  if (context.allowPrivilegeEscalation !== false) return causes;
  const contradicts = (what: string): StatusCause =>
    invalidValue(field, inGo(context), `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
  if (context.privileged === true) causes.push(contradicts('`privileged` to true'));
  if (arrayOf(at(context, 'capabilities', 'add')).includes('CAP_SYS_ADMIN'))
    causes.push(contradicts('`capabilities.Add` CAP_SYS_ADMIN'));
  return causes;
};
