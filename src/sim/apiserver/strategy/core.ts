import type { Strategy, World } from '../kinds/strategy.ts';
import type { Cause } from '../refusal.ts';
import { arrayOf, at, equal, type Json, recordOf, textOf } from '../value/index.ts';
import { invalidValue, required } from './causes.ts';
import { canonicalQuantities } from './quantity.ts';
import { inEach, inField, under } from './shaping.ts';

const keepStatus = (object: Json, previous: Json): Json => ({ ...object, status: previous.status });

const NAMESPACE_LABEL = 'kubernetes.io/metadata.name';

export const namespaceStrategy: Strategy = {
  names: 'label',
  answersWithObject: true,
  defaults: (object) =>
    inField(object, 'metadata', (metadata) => {
      const labels = recordOf(metadata.labels);
      return labels[NAMESPACE_LABEL] === metadata.name || metadata.name === undefined
        ? metadata
        : { ...metadata, labels: { ...labels, [NAMESPACE_LABEL]: metadata.name } };
    }),
  prepareCreate: (object) => ({
    ...object,
    spec: { ...recordOf(object.spec), finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  prepareUpdate: (object, previous) => ({ ...object, spec: previous.spec, status: previous.status }),
  subresources: {
    status: (previous, sent) => ({ ...sent, spec: previous.spec }),
    finalize: (previous, sent) => ({ ...sent, status: previous.status }),
  },
  onDelete: (object) => ({ ...object, status: { ...recordOf(object.status), phase: 'Terminating' } }),
  held: (object) => arrayOf(at(object, 'spec', 'finalizers')).length > 0,
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

// Structs of Go that are written although they are empty.
const ALWAYS = { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: NO_INFO };

const nodeDefaults = (object: Json): Json =>
  inField(under(object, { status: ALWAYS }), 'status', (sent) => {
    const given = under(sent, ALWAYS);
    const status = inField(inField(given, 'capacity', canonicalQuantities), 'allocatable', canonicalQuantities);
    return status.allocatable === undefined && status.capacity !== undefined
      ? { ...status, allocatable: status.capacity }
      : status;
  });

export const nodeStrategy: Strategy = {
  defaults: nodeDefaults,
  prepareCreate: (object) => ({ ...object, spec: recordOf(object.spec), status: recordOf(object.status) }),
  // A node is not ready until its kubelet says so, and nothing is to be placed on it by then.
  admit: (object) =>
    inField(under(object, { spec: {} }), 'spec', (spec) => {
      const taints = arrayOf(spec.taints);
      const has = taints.some(
        (taint) => at(taint, 'key') === NOT_READY.key && at(taint, 'effect') === NOT_READY.effect,
      );
      return has ? spec : { ...spec, taints: [...taints, NOT_READY] };
    }),
  prepareUpdate: keepStatus,
  subresources: { status: (previous, sent) => ({ ...sent, spec: previous.spec }) },
};

/** Times that Go writes as null when they are not set. */
export const eventStrategy: Strategy = {
  defaults: (object) =>
    under(object, {
      eventTime: null,
      firstTimestamp: null,
      lastTimestamp: null,
      source: {},
      reportingComponent: '',
      reportingInstance: '',
    }),
};

/** Events of events.k8s.io, with that version's names. */
export const newEventStrategy: Strategy = {
  defaults: (object) =>
    under(object, {
      eventTime: null,
      deprecatedFirstTimestamp: null,
      deprecatedLastTimestamp: null,
      deprecatedSource: {},
    }),
};

const immutableData = (object: Json, previous: Json): Cause[] => {
  if (previous.immutable !== true) return [];
  const causes: Cause[] = [];
  const fixed = 'field is immutable when `immutable` is set';
  const forbid = (field: string): Cause => ({ reason: 'FieldValueForbidden', message: `Forbidden: ${fixed}`, field });
  if (object.immutable !== true) causes.push(forbid('immutable'));
  for (const field of ['data', 'binaryData']) if (!equal(object[field], previous[field])) causes.push(forbid(field));
  return causes;
};

export const configMapStrategy: Strategy = { validateUpdate: immutableData };

const base64 = (text: unknown): string => Buffer.from(textOf(text), 'utf8').toString('base64');

export const secretStrategy: Strategy = {
  defaults(object) {
    const typed = under(object, { type: 'Opaque' });
    if (typed.stringData === undefined) return typed;
    const { stringData, ...rest } = typed;
    const added = Object.fromEntries(Object.entries(recordOf(stringData)).map(([key, value]) => [key, base64(value)]));
    return { ...rest, data: { ...recordOf(rest.data), ...added } };
  },
  validateUpdate: (object, previous) => [
    ...immutableData(object, previous),
    ...(object.type === previous.type ? [] : [invalidValue('type', object.type, 'field is immutable')]),
  ],
};

export const serviceAccountStrategy: Strategy = { answersWithObject: true };

// Deterministic, and far from what real networks use.
const clusterIp = (random: () => number): string =>
  `10.96.${Math.floor(random() * 256)}.${1 + Math.floor(random() * 254)}`;

const servicePort = (port: Json): Json => under(port, { protocol: 'TCP', targetPort: port.port });

export const serviceStrategy: Strategy = {
  answersWithObject: true,
  names: 'label',
  defaults: (object) =>
    inField(object, 'spec', (given) => {
      const spec = under(given, { type: 'ClusterIP', sessionAffinity: 'None' });
      const ported = inEach(spec, 'ports', servicePort);
      return ported.type === 'ExternalName' ? ported : under(ported, { internalTrafficPolicy: 'Cluster' });
    }),
  prepareCreate: (object, world: World) =>
    inField({ ...object, status: { loadBalancer: {} } }, 'spec', (spec) => {
      if (spec.type === 'ExternalName') return spec;
      const ip = textOf(spec.clusterIP) || clusterIp(world.random);
      return { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', ...spec, clusterIP: ip, clusterIPs: [ip] };
    }),
  prepareUpdate: (object, previous) =>
    inField(keepStatus(object, previous), 'spec', (spec) => ({
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
      ? [required('spec.ports')]
      : [],
  validateUpdate: (object, previous) => {
    const ip = at(object, 'spec', 'clusterIP');
    return ip === at(previous, 'spec', 'clusterIP')
      ? []
      : [invalidValue('spec.clusterIPs[0]', ip, 'field is immutable')];
  },
  subresources: { status: (previous, sent) => ({ ...sent, spec: previous.spec }) },
};

export const leaseStrategy: Strategy = { unconditionalUpdate: false };
export const roleStrategy: Strategy = { names: 'path' };

const bindingDefaults = (object: Json): Json =>
  inEach(
    inField(object, 'roleRef', (ref) => under(ref, { apiGroup: 'rbac.authorization.k8s.io' })),
    'subjects',
    (subject) =>
      subject.kind === 'ServiceAccount' ? subject : under(subject, { apiGroup: 'rbac.authorization.k8s.io' }),
  );

export const bindingStrategy: Strategy = {
  names: 'path',
  defaults: bindingDefaults,
  validateUpdate: (object, previous) =>
    equal(object.roleRef, previous.roleRef) ? [] : [invalidValue('roleRef', object.roleRef, 'cannot change roleRef')],
};

export const budgetStrategy: Strategy = {
  generation: true,
  unconditionalUpdate: false,
  prepareCreate: (object) => ({
    ...object,
    status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
  }),
  prepareUpdate: keepStatus,
  subresources: { status: (previous, sent) => ({ ...sent, spec: previous.spec }) },
};

export const networkPolicyStrategy: Strategy = {
  generation: true,
  defaults: (object) => inField(object, 'spec', (spec) => under(spec, { podSelector: {}, policyTypes: ['Ingress'] })),
};

export const priorityClassStrategy: Strategy = {
  generation: true,
  defaults: (object) => under(object, { preemptionPolicy: 'PreemptLowerPriority' }),
  validateUpdate: (object, previous) =>
    object.value === previous.value ? [] : [invalidValue('value', object.value, 'field is immutable')],
};
