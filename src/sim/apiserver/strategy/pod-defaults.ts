import { arrayOf, at, isRecord, type Json, recordOf, textOf } from '../value/index.ts';
import { canonicalQuantities } from './quantity.ts';

/** The object with `extra` underneath: only what it leaves out is filled in. */
export const under = <T extends Json>(object: T, extra: Json): T => {
  for (const key in extra) if (object[key] === undefined) return { ...extra, ...definedOf(object) } as T;
  return object;
};

const definedOf = (object: Json): Json => {
  const copy: Record<string, unknown> = {};
  for (const key in object) if (object[key] !== undefined) copy[key] = object[key];
  return copy;
};

/** The object with one field changed by `change`, where it has that field. */
export const inField = <T extends Json>(object: T, field: string, change: (value: Json) => Json): T => {
  const value = object[field];
  if (!isRecord(value)) return object;
  const next = change(value);
  return next === value ? object : { ...object, [field]: next };
};

/** The object with each item of a list changed, where it has that list. */
export const inEach = <T extends Json>(object: T, field: string, change: (item: Json) => Json): T => {
  const items = object[field];
  if (!Array.isArray(items)) return object;
  let changed = false;
  const next = (items as unknown[]).map((item) => {
    if (!isRecord(item)) return item;
    const made = change(item);
    changed ||= made !== item;
    return made;
  });
  return changed ? { ...object, [field]: next } : object;
};

const httpGet = (probe: Json): Json => inField(probe, 'httpGet', (get) => under(get, { path: '/', scheme: 'HTTP' }));

const probe = (given: Json): Json =>
  inField(
    under(httpGet(given), { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
    'grpc',
    (grpc) => under(grpc, { service: '' }),
  );

const fieldRef = (source: Json): Json => inField(source, 'fieldRef', (ref) => under(ref, { apiVersion: 'v1' }));

const pullPolicy = (image: string): string => {
  const [reference = ''] = image.split('@', 1);
  const tag = /:([^/:]+)$/.exec(reference)?.[1];
  if (image.includes('@')) return 'IfNotPresent';
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
};

const container = (given: Json): Json => {
  let result = under(given, {
    imagePullPolicy: pullPolicy(textOf(given.image)),
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  result = inEach(result, 'ports', (port) => under(port, { protocol: 'TCP' }));
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) result = inField(result, name, probe);
  result = inField(result, 'lifecycle', (hooks) => inField(inField(hooks, 'postStart', httpGet), 'preStop', httpGet));
  result = inEach(result, 'env', (env) => inField(env, 'valueFrom', fieldRef));
  return inField(result, 'resources', (resources) =>
    inField(inField(resources, 'limits', canonicalQuantities), 'requests', canonicalQuantities),
  );
};

const projected = (source: Json): Json =>
  inField(
    inField(source, 'serviceAccountToken', (token) => under(token, { expirationSeconds: 3607 })),
    'downwardAPI',
    (api) => inEach(api, 'items', fieldRef),
  );

const volume = (given: Json): Json => {
  let result = given;
  for (const kind of ['secret', 'configMap', 'downwardAPI', 'projected'])
    result = inField(result, kind, (source) => under(source, { defaultMode: 420 }));
  result = inField(result, 'projected', (source) => inEach(source, 'sources', projected));
  result = inField(result, 'downwardAPI', (source) => inEach(source, 'items', fieldRef));
  result = inField(result, 'hostPath', (source) => under(source, { type: '' }));
  return Object.keys(result).some((key) => key !== 'name') ? result : { ...result, emptyDir: {} };
};

const hostPorts = (given: Json): Json =>
  inEach(given, 'ports', (port) => (port.hostPort === undefined ? { ...port, hostPort: port.containerPort } : port));

// Templates are shared by a DaemonSet's pods and checked on every write of it.
const done = new WeakMap<Json, Json>();

/** A pod spec with everything that the API server fills in for pods and templates alike. */
export const defaultPodSpec = (spec: Json): Json => {
  const known = done.get(spec);
  if (known) return known;
  let result = under(spec, {
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  // Two names of one field.
  const account = result.serviceAccountName ?? result.serviceAccount;
  if (account !== undefined && (result.serviceAccount !== account || result.serviceAccountName !== account))
    result = { ...result, serviceAccount: account, serviceAccountName: account };
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    result = inEach(result, list, container);
    if (result.hostNetwork === true) result = inEach(result, list, hostPorts);
  }
  result = inEach(result, 'volumes', volume);
  done.set(spec, result);
  done.set(result, result);
  return result;
};

/** The same for the `spec.template` of a workload. */
export const defaultTemplate = (spec: Json): Json =>
  inField(spec, 'template', (template) => inField(template, 'spec', defaultPodSpec));

/** What a pod's requests and limits make of it. */
export const qosClass = (spec: Json): string => {
  let any = false;
  let guaranteed = true;
  for (const each of [...arrayOf(spec.containers), ...arrayOf(spec.initContainers)]) {
    const requests = recordOf(at(each, 'resources', 'requests'));
    const limits = recordOf(at(each, 'resources', 'limits'));
    for (const name of ['cpu', 'memory']) {
      if (requests[name] !== undefined || limits[name] !== undefined) any = true;
      if (limits[name] === undefined || (requests[name] !== undefined && requests[name] !== limits[name]))
        guaranteed = false;
    }
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
};
