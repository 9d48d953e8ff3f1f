import type { Strategy, World } from '../kinds/strategy.ts';
import { type Cause, forbidden } from '../refusal.ts';
import { arrayOf, at, equal, type Json, recordOf, textOf, without } from '../value/index.ts';
import { forbiddenChange, invalidValue } from './causes.ts';
import { randomSuffix } from './names.ts';
import { defaultPodSpec, inEach, inField, qosClass, under } from './pod-defaults.ts';
import { validatePodSpec } from './pod-validation.ts';

const named = { group: '', plural: 'pods', kind: 'Pod' };

const limitsAsRequests = (container: Json): Json =>
  inField(container, 'resources', (resources) => {
    const limits = recordOf(resources.limits);
    const requests = recordOf(resources.requests);
    const missing = Object.entries(limits).filter(([name]) => requests[name] === undefined);
    return missing.length === 0
      ? resources
      : { ...resources, requests: { ...Object.fromEntries(missing), ...requests } };
  });

const conditionTimes = (condition: Json): Json => under(condition, { lastProbeTime: null, lastTransitionTime: null });

const statusDefaults = (pod: Json): Json =>
  inField(pod, 'status', (status) => inEach(status, 'conditions', conditionTimes));

const defaults = (pod: Json): Json =>
  inField(statusDefaults(pod), 'spec', (spec) => {
    let result = under(defaultPodSpec(spec), { enableServiceLinks: true });
    for (const list of ['containers', 'initContainers']) result = inEach(result, list, limitsAsRequests);
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

/** Admission comes before a name is made of a prefix. */
const refusedName = (pod: Json): string =>
  textOf(at(pod, 'metadata', 'generateName')) || textOf(at(pod, 'metadata', 'name'));

const withAccount = (pod: Json, spec: Json, world: World): Json => {
  const namespace = textOf(at(pod, 'metadata', 'namespace'));
  const account = textOf(spec.serviceAccountName) || 'default';
  const found = world.find('serviceaccounts', namespace, account);
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
  const name = `kube-api-access-${randomSuffix(world.random)}`;
  const mount = { mountPath: TOKEN_MOUNT, name, readOnly: true };
  const addMount = (each: Json): Json =>
    mounted(each) ? each : { ...each, volumeMounts: [...arrayOf(each.volumeMounts), mount] };
  return {
    ...inEach(inEach(result, 'containers', addMount), 'initContainers', addMount),
    volumes: [...arrayOf(spec.volumes), tokenVolume(name)],
  };
};

const withPriority = (pod: Json, spec: Json, world: World): Json => {
  const name = textOf(spec.priorityClassName);
  if (name === '') return { ...spec, priority: 0, preemptionPolicy: spec.preemptionPolicy ?? 'PreemptLowerPriority' };
  const found = world.find('priorityclasses.scheduling.k8s.io', undefined, name);
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

const admit = (pod: Json, world: World): Json => {
  const spec = withTolerations(withPriority(pod, withAccount(pod, recordOf(pod.spec), world), world));
  return { ...pod, spec };
};

// What an update may change: compared with these taken out on both sides.
const frozenPart = (spec: Json): Json => {
  const image = (container: Json): Json => without(container, 'image');
  const bare = without(
    spec,
    'activeDeadlineSeconds',
    'tolerations',
    'terminationGracePeriodSeconds',
    'schedulingGates',
  );
  return inEach(inEach(bare, 'containers', image), 'initContainers', image);
};

const MAY_CHANGE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
  '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

const validateResize = (spec: Json, previous: Json): Cause[] => {
  const before = textOf(at(previous, 'status', 'qosClass'));
  return qosClass(spec) === before
    ? []
    : [invalidValue('spec', before, 'Pod QOS Class may not change as a result of resizing')];
};

const validateUpdate = (pod: Json, previous: Json, subresource: string | undefined): Cause[] => {
  const spec = recordOf(pod.spec);
  const old = recordOf(previous.spec);
  const causes: Cause[] = [];
  if (spec === old || subresource === 'binding' || subresource === 'ephemeralcontainers') return causes;
  if (subresource === 'resize') return validateResize(spec, previous);
  if (arrayOf(spec.containers).length !== arrayOf(old.containers).length)
    return [forbiddenChange('spec.containers', 'pod updates may not add or remove containers')];
  const bare = (toleration: unknown): Json => without(recordOf(toleration), 'tolerationSeconds');
  const kept = arrayOf(old.tolerations).every((each) =>
    arrayOf(spec.tolerations).some((other) => equal(bare(each), bare(other))),
  );
  if (!kept)
    causes.push(
      forbiddenChange('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'),
    );
  if (
    spec.terminationGracePeriodSeconds !== old.terminationGracePeriodSeconds ||
    !equal(frozenPart(spec), frozenPart(old))
  )
    causes.push(forbiddenChange('spec', MAY_CHANGE));
  return causes;
};

const ENDED = ['Succeeded', 'Failed'];

/** Writes to /status leave the spec and the owners alone. */
const writeStatus = (previous: Json, sent: Json): Json => ({
  ...sent,
  metadata: { ...recordOf(sent.metadata), ownerReferences: at(previous, 'metadata', 'ownerReferences') },
  spec: previous.spec,
  status: { ...recordOf(sent.status), qosClass: at(previous, 'status', 'qosClass') },
});

const RESIZABLE = ['resources', 'resizePolicy'];

/** Writes to /resize change the containers' resources and nothing else. */
const writeResize = (previous: Json, sent: Json): Json => {
  const wanted = new Map(arrayOf(at(sent, 'spec', 'containers')).map((each) => [at(each, 'name'), recordOf(each)]));
  const spec = inEach(recordOf(previous.spec), 'containers', (each) => {
    const other = wanted.get(each.name);
    if (!other) return each;
    return { ...each, ...Object.fromEntries(RESIZABLE.flatMap((key) => (key in other ? [[key, other[key]]] : []))) };
  });
  return { ...previous, metadata: sent.metadata, spec };
};

export const podStrategy: Strategy = {
  defaults,
  generation: true,
  prepareCreate: (pod) => ({ ...pod, status: { phase: 'Pending', qosClass: qosClass(recordOf(pod.spec)) } }),
  prepareUpdate: (pod, previous) => ({
    ...pod,
    spec: pod.spec === previous.spec ? pod.spec : withTolerations(recordOf(pod.spec)),
    status: previous.status,
  }),
  admit,
  validate: (pod) => validatePodSpec(recordOf(pod.spec), 'spec'),
  validateUpdate,
  subresources: {
    status: writeStatus,
    // The scheduler's word: where the pod runs.
    binding: (previous, sent) => ({ ...previous, spec: sent.spec, status: sent.status }),
    resize: writeResize,
    ephemeralcontainers: (previous, sent) => ({
      ...previous,
      metadata: sent.metadata,
      spec: { ...recordOf(previous.spec), ephemeralContainers: at(sent, 'spec', 'ephemeralContainers') },
    }),
  },
  answersWithObject: true,
  grace: (pod, asked) => {
    if (textOf(at(pod, 'spec', 'nodeName')) === '' || ENDED.includes(textOf(at(pod, 'status', 'phase')))) return 0;
    const own = at(pod, 'spec', 'terminationGracePeriodSeconds');
    const seconds = asked ?? (typeof own === 'number' ? own : 30);
    return seconds < 0 ? 1 : seconds;
  },
};
