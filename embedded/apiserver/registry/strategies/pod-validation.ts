import { isIP } from 'node:net';
import {
  forbiddenField,
  invalidFor,
  invalidValue,
  notSupported,
  oneOf,
  requiredField,
  type StatusCause,
  validateItems,
} from '../../errors.ts';
import { arrayOf, at, type Json, recordOf, textOf } from '../../json.ts';
import { validateContainers, validateHostPorts } from './container-validation.ts';
import { nameErrors, qualifiedNameErrors, validateAnnotations, validateLabels } from './names.ts';
import { validateOs } from './os-validation.ts';
import { validateAffinity, validateSpreading } from './placement-validation.ts';
import { validateAppArmorMatches, validatePodAnnotations } from './pod-annotations.ts';
import { validatePodSecurity } from './security-validation.ts';
import { validateVolumes } from './volume-validation.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export const validateTolerations = (spec: Json, field: string): StatusCause[] =>
  validateItems(spec, 'tolerations', field, ({ key, operator, value, effect, tolerationSeconds }, here) => {
    const causes: StatusCause[] = [];
    if (textOf(key) !== '') causes.push(...invalidFor(`${here}.key`, key, qualifiedNameErrors(textOf(key))));
    else if (operator !== 'Exists') {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      causes.push(invalidValue(`${here}.operator`, textOf(operator), why));
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      causes.push(invalidValue(`${here}.effect`, textOf(effect), why));
    }
    if (operator === 'Exists') {
      if (textOf(value) !== '')
        causes.push(invalidValue(`${here}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    } else if (operator !== undefined && operator !== 'Equal')
      causes.push(notSupported(`${here}.operator`, operator, ['Equal', 'Exists']));
    return textOf(effect) === '' ? causes : [...causes, ...oneOf(`${here}.effect`, effect, EFFECTS)];
  });

const RESTARTS = ['Always', 'OnFailure', 'Never'];
const DNS = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const MOST_SECONDS = 2_147_483_647;

const named = (spec: Json, name: string, rule: 'label' | 'subdomain', field: string): StatusCause[] => {
  const value = textOf(spec[name]);
  return value === '' ? [] : invalidFor(`${field}.${name}`, value, nameErrors(value, rule));
};

const deadline = ({ activeDeadlineSeconds: value }: Json, field: string): StatusCause[] =>
  value === undefined || (Number(value) >= 1 && Number(value) <= MOST_SECONDS)
    ? []
    : [invalidValue(`${field}.activeDeadlineSeconds`, value, `must be between 1 and ${MOST_SECONDS}, inclusive`)];

const dns = (spec: Json, field: string): StatusCause[] => {
  if (spec.dnsPolicy !== 'None') return [];
  if (spec.dnsConfig === undefined)
    return [requiredField(`${field}.dnsConfig`, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  return arrayOf(at(spec, 'dnsConfig', 'nameservers')).length > 0
    ? []
    : [
        requiredField(
          `${field}.dnsConfig.nameservers`,
          'must provide at least one DNS nameserver when `dnsPolicy` is None',
        ),
      ];
};

const aliases = (spec: Json, field: string): StatusCause[] =>
  validateItems(spec, 'hostAliases', field, ({ ip, hostnames }, here) => [
    ...(isIP(textOf(ip)) === 0
      ? [invalidValue(`${here}.ip`, textOf(ip), 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]
      : []),
    ...arrayOf(hostnames).flatMap((name, index) =>
      invalidFor(`${here}.hostnames[${index}]`, name, nameErrors(textOf(name), 'subdomain')),
    ),
  ]);

const gates = (spec: Json, field: string): StatusCause[] =>
  validateItems(spec, 'readinessGates', field, (gate, here) => {
    const type = textOf(gate.conditionType);
    return invalidFor(`${here}.conditionType`, type, qualifiedNameErrors(type));
  });

/** Validates the parts of a pod spec where mistakes are common; errors are in the real server's order. */
export const validatePodSpec = (spec: Json, field: string, isPod = false): StatusCause[] => [
  ...validateVolumes(spec, field),
  ...validateContainers(spec, field, isPod),
  ...validateHostPorts(spec, field),
  ...oneOf(`${field}.restartPolicy`, spec.restartPolicy, RESTARTS),
  ...oneOf(`${field}.dnsPolicy`, spec.dnsPolicy, DNS),
  ...validateLabels(recordOf(spec.nodeSelector), `${field}.nodeSelector`),
  ...validatePodSecurity(spec, field),
  ...validateAffinity(spec, field),
  ...dns(spec, field),
  ...gates(spec, field),
  ...validateSpreading(spec, field),
  ...named(spec, 'serviceAccountName', 'subdomain', field),
  ...named(spec, 'nodeName', 'subdomain', field),
  ...deadline(spec, field),
  ...named(spec, 'hostname', 'label', field),
  ...named(spec, 'subdomain', 'label', field),
  ...validateTolerations(spec, field),
  ...aliases(spec, field),
  ...named(spec, 'priorityClassName', 'subdomain', field),
  ...named(spec, 'runtimeClassName', 'subdomain', field),
  ...validateOs(spec, field),
];

export const validatePodTemplate = (template: Json, field: string): StatusCause[] => {
  const spec = recordOf(template.spec);
  const metadata = recordOf(template.metadata);
  const causes = [
    ...validateLabels(recordOf(metadata.labels), `${field}.labels`),
    ...validateAnnotations(recordOf(metadata.annotations), `${field}.annotations`),
    ...validatePodAnnotations(metadata, spec, `${field}.annotations`),
    ...validatePodSpec(spec, `${field}.spec`),
    ...validateAppArmorMatches(metadata, spec, `${field}.spec`),
  ];
  return arrayOf(spec.ephemeralContainers).length === 0
    ? causes
    : [
        ...causes,
        forbiddenField(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'),
      ];
};
