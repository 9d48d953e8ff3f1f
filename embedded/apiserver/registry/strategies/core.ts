import { invalidValue, requiredField, type StatusCause } from '../../errors.ts';
import { arrayOf, at, equal, type Json, mapField, mapItems, recordOf, textOf, withDefaultFields } from '../../json.ts';
import { keepSpec, keepStatus, type Strategy, type StrategyContext, statusSubresource } from '../kind.ts';
import { validateConfigMap, validateSecret } from './data-validation.ts';
import { canonicalQuantities } from './quantity.ts';

const NAMESPACE_LABEL = 'kubernetes.io/metadata.name';

export const namespaceStrategy: Strategy = {
  nameRule: 'label',
  returnDeletedObject: true,
  defaults: (object) =>
    mapField(object, 'metadata', (metadata) => {
      const labels = recordOf(metadata.labels);
      return labels[NAMESPACE_LABEL] === metadata.name || metadata.name === undefined
        ? metadata
        : { ...metadata, labels: { ...labels, [NAMESPACE_LABEL]: metadata.name } };
    }),
  prepareForCreate: (object) => ({
    ...object,
    spec: { ...recordOf(object.spec), finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  prepareForUpdate: (object, previous) => ({ ...object, spec: previous.spec, status: previous.status }),
  subresources: {
    status: keepSpec,
    finalize: (previous, sent) => ({ ...sent, status: previous.status }),
  },
  prepareForDelete: (object) => ({ ...object, status: { ...recordOf(object.status), phase: 'Terminating' } }),
  hasFinalizers: (object) => arrayOf(at(object, 'spec', 'finalizers')).length > 0,
};

const NOT_READY = { effect: 'NoSchedule', key: 'node.kubernetes.io/not-ready' };

const NO_INFO = Object.fromEntries(
  [
    'architecture',
    'bootID',
    'containerRuntimeVersion',
    'kernelVersion',
    'kubeProxyVersion',
    'kubeletVersion',
    'machineID',
    'operatingSystem',
    'osImage',
    'systemUUID',
  ].map((name) => [name, '']),
);

// Structs that Go writes even if empty.
const ALWAYS = { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: NO_INFO };

const nodeDefaults = (object: Json): Json =>
  mapField(withDefaultFields(object, { status: ALWAYS }), 'status', (sent) => {
    const given = withDefaultFields(sent, ALWAYS);
    const status = mapField(mapField(given, 'capacity', canonicalQuantities), 'allocatable', canonicalQuantities);
    return status.allocatable === undefined && status.capacity !== undefined
      ? { ...status, allocatable: status.capacity }
      : status;
  });

export const nodeStrategy: Strategy = {
  defaults: nodeDefaults,
  prepareForCreate: (object) => ({ ...object, spec: recordOf(object.spec), status: recordOf(object.status) }),
  // The TaintNodesByCondition admission plugin: a new node isn't ready until its kubelet says so.
  admit: (object) =>
    mapField(withDefaultFields(object, { spec: {} }), 'spec', (spec) => {
      const taints = arrayOf(spec.taints);
      const has = taints.some(
        (taint) => at(taint, 'key') === NOT_READY.key && at(taint, 'effect') === NOT_READY.effect,
      );
      return has ? spec : { ...spec, taints: [...taints, NOT_READY] };
    }),
  ...statusSubresource,
};

/** Go writes unset times as null. */
export const eventStrategy: Strategy = {
  defaults: (object) =>
    withDefaultFields(object, {
      eventTime: null,
      firstTimestamp: null,
      lastTimestamp: null,
      source: {},
      reportingComponent: '',
      reportingInstance: '',
    }),
};

/** The same for events.k8s.io/v1. */
export const newEventStrategy: Strategy = {
  defaults: (object) =>
    withDefaultFields(object, {
      eventTime: null,
      deprecatedFirstTimestamp: null,
      deprecatedLastTimestamp: null,
      deprecatedSource: {},
    }),
};

const immutableData = (object: Json, previous: Json): StatusCause[] => {
  if (previous.immutable !== true) return [];
  const causes: StatusCause[] = [];
  const fixed = 'field is immutable when `immutable` is set';
  const forbid = (field: string): StatusCause => ({
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${fixed}`,
    field,
  });
  if (object.immutable !== true) causes.push(forbid('immutable'));
  for (const field of ['data', 'binaryData']) if (!equal(object[field], previous[field])) causes.push(forbid(field));
  return causes;
};

export const configMapStrategy: Strategy = { validate: validateConfigMap, validateUpdate: immutableData };

const base64 = (text: unknown): string => Buffer.from(textOf(text), 'utf8').toString('base64');

export const secretStrategy: Strategy = {
  defaults(object) {
    const typed = withDefaultFields(object, { type: 'Opaque' });
    if (typed.stringData === undefined) return typed;
    const { stringData, ...rest } = typed;
    const added = Object.fromEntries(Object.entries(recordOf(stringData)).map(([key, value]) => [key, base64(value)]));
    return { ...rest, data: { ...recordOf(rest.data), ...added } };
  },
  validate: validateSecret,
  validateUpdate: (object, previous) => [
    ...immutableData(object, previous),
    ...(object.type === previous.type ? [] : [invalidValue('type', object.type, 'field is immutable')]),
  ],
};

export const serviceAccountStrategy: Strategy = { returnDeletedObject: true };

// Deterministic, and outside of common networks.
const clusterIp = (random: () => number): string =>
  `10.96.${Math.floor(random() * 256)}.${1 + Math.floor(random() * 254)}`;

const servicePort = (port: Json): Json => withDefaultFields(port, { protocol: 'TCP', targetPort: port.port });

export const serviceStrategy: Strategy = {
  returnDeletedObject: true,
  nameRule: 'label',
  defaults: (object) =>
    mapField(object, 'spec', (given) => {
      const spec = withDefaultFields(given, { type: 'ClusterIP', sessionAffinity: 'None' });
      const ported = mapItems(spec, 'ports', servicePort);
      return ported.type === 'ExternalName' ? ported : withDefaultFields(ported, { internalTrafficPolicy: 'Cluster' });
    }),
  prepareForCreate: (object, context: StrategyContext) =>
    mapField({ ...object, status: { loadBalancer: {} } }, 'spec', (spec) => {
      if (spec.type === 'ExternalName') return spec;
      const ip = textOf(spec.clusterIP) || clusterIp(context.random);
      return { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', ...spec, clusterIP: ip, clusterIPs: [ip] };
    }),
  prepareForUpdate: (object, previous) =>
    mapField(keepStatus(object, previous), 'spec', (spec) => ({
      ...Object.fromEntries(
        ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].flatMap((key) => {
          const value = at(previous, 'spec', key);
          return value === undefined ? [] : [[key, value]];
        }),
      ),
      ...spec,
    })),
  validate: (object) =>
    arrayOf(at(object, 'spec', 'ports')).length === 0 && at(object, 'spec', 'clusterIP') !== 'None'
      ? [requiredField('spec.ports')]
      : [],
  validateUpdate: (object, previous) => {
    const ip = at(object, 'spec', 'clusterIP');
    return ip === at(previous, 'spec', 'clusterIP')
      ? []
      : [invalidValue('spec.clusterIPs[0]', ip, 'field is immutable')];
  },
  subresources: { status: keepSpec },
};

export const leaseStrategy: Strategy = {
  allowUnconditionalUpdate: false,
  allowCreateOnUpdate: true,
  defaults: (object) => withDefaultFields(object, { spec: {} }),
  validate: (object) => {
    const { leaseDurationSeconds: seconds, leaseTransitions: transitions } = recordOf(object.spec);
    return [
      ...(typeof seconds === 'number' && seconds <= 0
        ? [invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
        : []),
      ...(typeof transitions === 'number' && transitions < 0
        ? [invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
        : []),
    ];
  },
};
export const roleStrategy: Strategy = { nameRule: 'path', allowCreateOnUpdate: true };

const bindingDefaults = (object: Json): Json =>
  mapItems(
    mapField(object, 'roleRef', (ref) => withDefaultFields(ref, { apiGroup: 'rbac.authorization.k8s.io' })),
    'subjects',
    (subject) =>
      subject.kind === 'ServiceAccount'
        ? subject
        : withDefaultFields(subject, { apiGroup: 'rbac.authorization.k8s.io' }),
  );

export const roleBindingStrategy: Strategy = {
  nameRule: 'path',
  allowCreateOnUpdate: true,
  defaults: bindingDefaults,
  validateUpdate: (object, previous) =>
    equal(object.roleRef, previous.roleRef) ? [] : [invalidValue('roleRef', object.roleRef, 'cannot change roleRef')],
};

export const budgetStrategy: Strategy = {
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  prepareForCreate: (object) => ({
    ...object,
    status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
  }),
  ...statusSubresource,
};

export const networkPolicyStrategy: Strategy = {
  hasGeneration: true,
  defaults: (object) =>
    mapField(object, 'spec', (spec) => withDefaultFields(spec, { podSelector: {}, policyTypes: ['Ingress'] })),
};

export const priorityClassStrategy: Strategy = {
  hasGeneration: true,
  defaults: (object) => withDefaultFields(object, { preemptionPolicy: 'PreemptLowerPriority' }),
  validateUpdate: (object, previous) =>
    object.value === previous.value ? [] : [invalidValue('value', object.value, 'field is immutable')],
};
