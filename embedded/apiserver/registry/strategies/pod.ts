import { forbidden, type StatusCause } from '../../errors.ts';
import { arrayOf, at, type Json, mapField, mapItems, recordOf, textOf, withDefaultFields } from '../../json.ts';
import type { Strategy, StrategyContext } from '../kind.ts';
import { hostnameWarnings, podWarnings } from '../warnings/pod-warnings.ts';
import { withAppArmorFields } from './app-armor.ts';
import { qualifiedNameErrors, randomSuffix } from './names.ts';
import { validateAppArmorMatches, validatePodAnnotations } from './pod-annotations.ts';
import { defaultPodSpec, qosClass, withHostPorts } from './pod-defaults.ts';
import { applyResize, validatePodResize } from './pod-resize.ts';
import { validatePodStatusUpdate, validatePodUpdate } from './pod-update.ts';
import { validatePodSpec } from './pod-validation.ts';
import { canonicalResources } from './quantity.ts';

const named = { group: '', plural: 'pods', kind: 'Pod' };

const limitsAsRequests = (container: Json): Json =>
  mapField(container, 'resources', (resources) => {
    const limits = recordOf(resources.limits);
    const requests = recordOf(resources.requests);
    const missing = Object.entries(limits).filter(([name]) => requests[name] === undefined);
    return missing.length === 0
      ? resources
      : { ...resources, requests: { ...Object.fromEntries(missing), ...requests } };
  });

const conditionTimes = (condition: Json): Json =>
  withDefaultFields(condition, { lastProbeTime: null, lastTransitionTime: null });

// Fields that Go writes even if empty.
const EMPTY_STATUS = { image: '', imageID: '', lastState: {}, ready: false, restartCount: 0, state: {} };

const UNTIMED = { running: { startedAt: null }, terminated: { startedAt: null, finishedAt: null } };

const containerState = (state: Json): Json =>
  Object.entries(UNTIMED).reduce(
    (made, [kind, times]) => mapField(made, kind, (one) => withDefaultFields(one, times)),
    state,
  );

const containerStatus = (given: Json): Json =>
  ['state', 'lastState'].reduce(
    (status, field) => mapField(status, field, containerState),
    canonicalResources(withDefaultFields(given, EMPTY_STATUS)),
  );

const statusDefaults = (pod: Json): Json =>
  mapField(pod, 'status', (given) => {
    let status = mapItems(given, 'conditions', conditionTimes);
    for (const list of ['containerStatuses', 'initContainerStatuses']) status = mapItems(status, list, containerStatus);
    return status;
  });

const defaults = (pod: Json): Json =>
  mapField(statusDefaults(pod), 'spec', (spec) => {
    let result = withDefaultFields(withHostPorts(defaultPodSpec(spec)), { enableServiceLinks: true });
    // A pod, but no template, is mended.
    if (Number(result.terminationGracePeriodSeconds) < 0) result = { ...result, terminationGracePeriodSeconds: 1 };
    result = limitsAsRequests(result);
    for (const list of ['containers', 'initContainers']) result = mapItems(result, list, limitsAsRequests);
    return result;
  });

const TOKEN_MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

const tokenVolume = (name: string): Json => ({
  name,
  projected: {
    defaultMode: 420,
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: 'kube-root-ca.crt' } },
      {
        downwardAPI: {
          items: [{ fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' }],
        },
      },
    ],
  },
});

/** Admission runs before the name is generated. */
const refusedName = (pod: Json): string =>
  textOf(at(pod, 'metadata', 'generateName')) || textOf(at(pod, 'metadata', 'name'));

const withAccount = (pod: Json, spec: Json, context: StrategyContext): Json => {
  const namespace = textOf(at(pod, 'metadata', 'namespace'));
  const account = textOf(spec.serviceAccountName) || 'default';
  const found = context.find('serviceaccounts', namespace, account);
  if (!found) {
    const missing = `serviceaccount ${JSON.stringify(account)} not found`;
    throw forbidden(named, refusedName(pod), `error looking up service account ${namespace}/${account}: ${missing}`);
  }
  const result: Json = { ...spec, serviceAccountName: account, serviceAccount: account };
  if ((spec.automountServiceAccountToken ?? found.automountServiceAccountToken ?? true) !== true) return result;
  const mounted = (each: Json): boolean =>
    arrayOf(each.volumeMounts).some((mount) => at(mount, 'mountPath') === TOKEN_MOUNT);
  const containers = [...arrayOf(spec.containers), ...arrayOf(spec.initContainers)];
  if (containers.every((each) => mounted(recordOf(each)))) return result;
  const name = `kube-api-access-${randomSuffix(context.random)}`;
  const mount = { mountPath: TOKEN_MOUNT, name, readOnly: true };
  const addMount = (each: Json): Json =>
    mounted(each) ? each : { ...each, volumeMounts: [...arrayOf(each.volumeMounts), mount] };
  return {
    ...mapItems(mapItems(result, 'containers', addMount), 'initContainers', addMount),
    volumes: [...arrayOf(spec.volumes), tokenVolume(name)],
  };
};

const withPriority = (pod: Json, spec: Json, context: StrategyContext): Json => {
  const name = textOf(spec.priorityClassName);
  if (name === '') return { ...spec, priority: 0, preemptionPolicy: spec.preemptionPolicy ?? 'PreemptLowerPriority' };
  const found = context.find('priorityclasses.scheduling.k8s.io', undefined, name);
  if (!found) throw forbidden(named, refusedName(pod), `no PriorityClass with name ${name} was found`);
  return { ...spec, priority: found.value, preemptionPolicy: found.preemptionPolicy ?? 'PreemptLowerPriority' };
};

const EVICTING = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const EVICTED_AFTER_SECONDS = 300;

const withTolerations = (spec: Json): Json => {
  const present = arrayOf(spec.tolerations);
  const tolerates = (key: string): boolean =>
    present.some((each) => {
      const effect = textOf(at(each, 'effect'));
      const own = textOf(at(each, 'key'));
      return (own === key || own === '') && (effect === 'NoExecute' || effect === '');
    });
  const missing = EVICTING.filter((key) => !tolerates(key));
  if (missing.length === 0) return spec;
  const added = missing.map((key) => ({
    effect: 'NoExecute',
    key,
    operator: 'Exists',
    tolerationSeconds: EVICTED_AFTER_SECONDS,
  }));
  return { ...spec, tolerations: [...present, ...added] };
};

const admit = (pod: Json, context: StrategyContext): Json => {
  const spec = withTolerations(withPriority(pod, withAccount(pod, recordOf(pod.spec), context), context));
  return { ...pod, spec };
};

const validateUpdate = (pod: Json, previous: Json, subresource: string | undefined): StatusCause[] => {
  switch (subresource) {
    case undefined:
      return pod.spec === previous.spec ? [] : validatePodUpdate(recordOf(pod.spec), recordOf(previous.spec));
    case 'status':
      return validatePodStatusUpdate(pod, previous, qualifiedNameErrors);
    case 'resize':
      return validatePodResize(pod, previous);
    default:
      return [];
  }
};

const ENDED = ['Succeeded', 'Failed'];

/** Status updates don't change the spec or the owners. */
const writeStatus = (previous: Json, sent: Json): Json => ({
  ...sent,
  metadata: { ...recordOf(sent.metadata), ownerReferences: at(previous, 'metadata', 'ownerReferences') },
  spec: previous.spec,
  status: {
    ...recordOf(sent.status),
    qosClass: textOf(at(sent, 'status', 'qosClass')) || at(previous, 'status', 'qosClass'),
  },
});

const validateNewPod = ({ metadata, spec }: Json): StatusCause[] => [
  ...validatePodAnnotations(metadata, recordOf(spec), 'metadata.annotations'),
  ...validatePodSpec(recordOf(spec), 'spec', true),
  ...validateAppArmorMatches(metadata, recordOf(spec), 'spec'),
];

const newPodWarnings = (pod: Json): string[] => [
  ...hostnameWarnings(pod, "the Pod's hostname"),
  ...podWarnings(pod.metadata, recordOf(pod.spec), ''),
];

export const podStrategy: Strategy = {
  defaults,
  hasGeneration: true,
  prepareForCreate: (pod) => ({
    ...withAppArmorFields(pod),
    status: { phase: 'Pending', qosClass: qosClass(recordOf(pod.spec)) },
  }),
  // Kubernetes does not warn of updates, which are usually a controller's.
  warnings: (pod, previous) => (previous ? [] : newPodWarnings(pod)),
  prepareForUpdate: (pod, previous) => ({
    ...pod,
    spec: pod.spec === previous.spec ? pod.spec : withTolerations(recordOf(pod.spec)),
    status: previous.status,
  }),
  admit,
  // Updates are validated by validateUpdate.
  validate: (pod, previous) => (previous ? [] : validateNewPod(pod)),
  validateUpdate,
  subresources: {
    status: writeStatus,
    // Written by the scheduler.
    binding: (previous, sent) => ({ ...previous, spec: sent.spec, status: sent.status }),
    resize: applyResize,
    ephemeralcontainers: (previous, sent) => ({
      ...previous,
      metadata: sent.metadata,
      spec: { ...recordOf(previous.spec), ephemeralContainers: at(sent, 'spec', 'ephemeralContainers') },
    }),
  },
  returnDeletedObject: true,
  gracePeriodSeconds: (pod, asked) => {
    if (textOf(at(pod, 'spec', 'nodeName')) === '' || ENDED.includes(textOf(at(pod, 'status', 'phase')))) return 0;
    const own = at(pod, 'spec', 'terminationGracePeriodSeconds');
    const seconds = asked ?? (typeof own === 'number' ? own : 30);
    return seconds < 0 ? 1 : seconds;
  },
};
