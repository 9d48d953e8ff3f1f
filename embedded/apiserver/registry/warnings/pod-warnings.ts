import { arrayOf, at, isRecord, type Json, recordOf, textOf } from '../../json.ts';
import { labelValueErrors, nameErrors } from '../strategies/names.ts';
import { isWholeNumber } from '../strategies/quantity.ts';
import { containersOf, containerWarnings, fractional, portWarnings } from './container-warnings.ts';
import { volumeWarnings } from './volume-warnings.ts';

// What pkg/api/pod/warnings.go of Kubernetes warns of.

const NODE_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

const ANNOTATIONS: readonly (readonly [key: string, message: string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
];

const items = (object: unknown, ...path: string[]): readonly Json[] => arrayOf(at(object, ...path)).map(recordOf);

const termWarnings = (term: unknown, field: string, checksValues: boolean): string[] =>
  items(term, 'matchExpressions').flatMap(({ key, values }, index) => {
    const here = `${field}.matchExpressions[${index}]`;
    const message = NODE_LABELS.get(textOf(key));
    const invalid = arrayOf(checksValues ? values : []).flatMap((value, place) =>
      labelValueErrors(textOf(value)).map((why) => `${here}.values[${place}]: ${textOf(value)} is invalid, ${why}`),
    );
    return [...(message === undefined ? [] : [`${here}.key: ${textOf(key)} is ${message}`]), ...invalid];
  });

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

const nodeAffinity = (spec: Json, here: string): string[] => {
  const affinity = at(spec, 'affinity', 'nodeAffinity');
  const field = `${here}.affinity.nodeAffinity`;
  return [
    ...items(affinity, REQUIRED, 'nodeSelectorTerms').flatMap((term, index) =>
      termWarnings(term, `${field}.${REQUIRED}.nodeSelectorTerms[${index}]`, false),
    ),
    ...items(affinity, PREFERRED).flatMap(({ preference }, index) =>
      termWarnings(preference, `${field}.${PREFERRED}[${index}].preference`, true),
    ),
  ];
};

const NULL_SELECTOR = 'a null labelSelector results in matching no pod';

const podAffinity = (spec: Json, here: string): string[] =>
  ['podAffinity', 'podAntiAffinity'].flatMap((kind) => {
    const affinity = at(spec, 'affinity', kind);
    const field = `${here}.affinity.${kind}`;
    return [
      ...items(affinity, REQUIRED).flatMap(({ labelSelector }, index) =>
        labelSelector === undefined ? [`${field}.${REQUIRED}[${index}].labelSelector: ${NULL_SELECTOR}`] : [],
      ),
      ...items(affinity, PREFERRED).flatMap(({ podAffinityTerm }, index) =>
        at(podAffinityTerm, 'labelSelector') === undefined
          ? [`${field}.${PREFERRED}[${index}].podAffinityTerm.labelSelector: ${NULL_SELECTOR}`]
          : [],
      ),
    ];
  });

const spreading = (spec: Json, here: string): string[] =>
  items(spec, 'topologySpreadConstraints').flatMap(({ topologyKey, labelSelector }, index) => {
    const field = `${here}.topologySpreadConstraints[${index}]`;
    const message = NODE_LABELS.get(textOf(topologyKey));
    return [
      ...(message === undefined ? [] : [`${field}.topologyKey: ${textOf(topologyKey)} is ${message}`]),
      ...(labelSelector === undefined ? [`${field}.labelSelector: ${NULL_SELECTOR}`] : []),
    ];
  });

const nodeSelector = (spec: Json, here: string): string[] =>
  Object.keys(recordOf(spec.nodeSelector)).flatMap((key) => {
    const message = NODE_LABELS.get(key);
    return message === undefined ? [] : [`${here}.nodeSelector[${key}]: ${message}`];
  });

/** Names that occur a second time, with the index of each. */
const repeated = (names: readonly string[]): readonly (readonly [index: number, name: string])[] =>
  [...names.entries()].filter(([index, name]) => names.indexOf(name) < index);

const lists = (spec: Json, here: string): string[] => {
  const addresses = items(spec, 'hostAliases').map(({ ip }) => textOf(ip));
  const secrets = items(spec, 'imagePullSecrets').map(({ name }) => textOf(name));
  return [
    ...repeated(addresses).map(([index, ip]) => `${here}.hostAliases[${index}].ip: duplicate ip ${JSON.stringify(ip)}`),
    ...repeated(secrets).map(
      ([index, name]) => `${here}.imagePullSecrets[${index}].name: duplicate name ${JSON.stringify(name)}`,
    ),
    ...secrets.flatMap((name, index) =>
      name === '' ? [`${here}.imagePullSecrets[${index}].name: invalid empty name ""`] : [],
    ),
  ];
};

const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';

/** Warnings about the metadata and spec of a pod or of a template. `path` is where it is, such as `spec.template.`. */
export const podWarnings = (metadata: unknown, spec: Json, path: string): string[] => {
  const here = `${path}spec`;
  const annotations = recordOf(at(metadata, 'annotations'));
  const annotated = (key: string, message: string): string[] =>
    key in annotations ? [`${path}metadata.annotations[${key}]: ${message}`] : [];
  const noProfile = !isRecord(at(spec, 'securityContext', 'seccompProfile'));
  const grace = spec.terminationGracePeriodSeconds;
  return [
    ...nodeSelector(spec, here),
    ...nodeAffinity(spec, here),
    ...spreading(spec, here),
    ...ANNOTATIONS.flatMap(([key, message]) => annotated(key, message)),
    ...volumeWarnings(spec, here),
    ...lists(spec, here),
    ...['memory', 'ephemeral-storage'].flatMap((name) => {
      const amount = at(spec, 'overhead', name);
      return isWholeNumber(amount) ? [] : [fractional(`${here}.overhead`, name, amount)];
    }),
    ...(noProfile ? annotated(SECCOMP_POD, 'non-functional in v1.27+; use the "seccompProfile" field instead') : []),
    ...containersOf(spec, here).flatMap((each) => containerWarnings(each, spec, annotations, path)),
    ...portWarnings(containersOf(spec, here)),
    ...(typeof grace === 'number' && grace < 0
      ? [`${here}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...podAffinity(spec, here),
  ];
};

/** Warnings about a pod template; `path` is where it is in its object. */
export const templateWarnings = (template: unknown, path: string): string[] =>
  podWarnings(at(template, 'metadata'), recordOf(at(template, 'spec')), `${path}.`);

/** Warns of a name that is no DNS label. */
export const hostnameWarnings = (object: Json, usedIn: string): string[] => {
  const errors = nameErrors(textOf(at(object, 'metadata', 'name')), 'label');
  return errors.length === 0
    ? []
    : [
        `metadata.name: this is used in ${usedIn}, which can result in surprising behavior; a DNS label is recommended: [${errors.join(' ')}]`,
      ];
};
