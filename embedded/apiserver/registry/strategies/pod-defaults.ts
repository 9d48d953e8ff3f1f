import { arrayOf, at, type Json, mapField, mapItems, recordOf, textOf, withDefaultFields } from '../../json.ts';
import { withoutDisabledFields } from './disabled-fields.ts';
import { canonicalQuantities, canonicalQuantity, canonicalResources } from './quantity.ts';

const fieldRef = (source: Json): Json =>
  mapField(
    mapField(source, 'fieldRef', (ref) => withDefaultFields(ref, { apiVersion: 'v1' })),
    'resourceFieldRef',
    (ref) => withDefaultFields(ref, { divisor: '0' }),
  );

const projected = (source: Json): Json =>
  mapField(
    mapField(source, 'serviceAccountToken', (token) => withDefaultFields(token, { expirationSeconds: 3600 })),
    'downwardAPI',
    (api) => mapItems(api, 'items', fieldRef),
  );

/** Defaults by volume type. */
const BASE: Readonly<Record<string, Json>> = {
  secret: { defaultMode: 420 },
  configMap: { defaultMode: 420 },
  downwardAPI: { defaultMode: 420 },
  projected: { defaultMode: 420 },
  hostPath: { type: '' },
  iscsi: { iscsiInterface: 'default' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};

const claim = (source: Json): Json =>
  mapField(source, 'volumeClaimTemplate', (template) =>
    mapField(withDefaultFields(template, { metadata: {} }), 'spec', (spec) =>
      canonicalResources(withDefaultFields(spec, { volumeMode: 'Filesystem' })),
    ),
  );

const sized = (source: Json): Json =>
  source.sizeLimit === undefined ? source : { ...source, sizeLimit: canonicalQuantity(source.sizeLimit) };

/** Sets a volume's defaults; a volume without a source is an emptyDir. */
const defaultVolume = (given: Json): Json => {
  let result = given;
  for (const [kind, base] of Object.entries(BASE))
    result = mapField(result, kind, (source) => withDefaultFields(source, base));
  result = mapField(result, 'projected', (source) => mapItems(source, 'sources', projected));
  result = mapField(result, 'downwardAPI', (source) => mapItems(source, 'items', fieldRef));
  result = mapField(result, 'ephemeral', claim);
  result = mapField(result, 'emptyDir', sized);
  return Object.keys(result).some((key) => key !== 'name') ? result : { ...result, emptyDir: {} };
};

const httpGet = (probe: Json): Json =>
  mapField(probe, 'httpGet', (get) => withDefaultFields(get, { path: '/', scheme: 'HTTP' }));

const probe = (given: Json): Json =>
  mapField(
    withDefaultFields(httpGet(given), {
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    }),
    'grpc',
    (grpc) => withDefaultFields(grpc, { service: '' }),
  );

const WORD = '[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*';
const HOST =
  '(?:[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])';
// oxlint-disable-next-line linear/patterns -- Its parts are above: no two of them match the same text.
const REFERENCE = new RegExp(
  `^(?:${HOST}(?::[0-9]+)?/)?${WORD}(?:/${WORD})*(?::(?<tag>\\w[\\w.-]{0,127}))?(?:@(?<digest>[a-zA-Z][-+.\\w]*:[a-fA-F0-9]{32,}))?$`,
);
const IDENTIFIER = /^[a-f0-9]{64}$/;

/** Only the tag `latest`, or no tag and no digest, is pulled always. What is no reference is not. */
const pullPolicy = (image: string): string => {
  const parts = IDENTIFIER.test(image) ? undefined : REFERENCE.exec(image)?.groups;
  if (!parts) return 'IfNotPresent';
  const { tag = parts.digest === undefined ? 'latest' : '' } = parts;
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
};

const container = (given: Json): Json => {
  let result = withDefaultFields(given, {
    imagePullPolicy: pullPolicy(textOf(given.image)),
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  result = mapItems(result, 'ports', (port) => withDefaultFields(port, { protocol: 'TCP' }));
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) result = mapField(result, name, probe);
  result = mapField(result, 'lifecycle', (hooks) =>
    mapField(mapField(hooks, 'postStart', httpGet), 'preStop', httpGet),
  );
  return canonicalResources(mapItems(result, 'env', (env) => mapField(env, 'valueFrom', fieldRef)));
};

const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers'];

// A DaemonSet's pods share their template's spec, which each write checks again.
const done = new WeakMap<Json, Json>();

/** Sets the defaults that pods and pod templates share. */
export const defaultPodSpec = (spec: Json): Json => {
  const known = done.get(spec);
  if (known) return known;
  let result = withDefaultFields(withoutDisabledFields(spec), {
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  // Two names for one field.
  const account = result.serviceAccountName ?? result.serviceAccount;
  if (account !== undefined && (result.serviceAccount !== account || result.serviceAccountName !== account))
    result = { ...result, serviceAccount: account, serviceAccountName: account };
  for (const list of CONTAINERS) result = mapItems(result, list, container);
  result = canonicalResources(mapField(result, 'overhead', canonicalQuantities));
  result = mapItems(result, 'volumes', defaultVolume);
  done.set(spec, result);
  done.set(result, result);
  return result;
};

/** Sets the defaults of a workload's `spec.template`. */
export const defaultTemplate = (spec: Json): Json =>
  mapField(spec, 'template', (template) => mapField(template, 'spec', defaultPodSpec));

const hostPorts = (given: Json): Json =>
  mapItems(given, 'ports', (port) => (port.hostPort === undefined ? { ...port, hostPort: port.containerPort } : port));

/** With hostNetwork, container ports are host ports; set on pods, not on templates. */
export const withHostPorts = (spec: Json): Json =>
  spec.hostNetwork === true ? CONTAINERS.reduce((made, list) => mapItems(made, list, hostPorts), spec) : spec;

/** The QoS class of a pod. */
export const qosClass = (spec: Json): string => {
  let any = false;
  let guaranteed = true;
  const { limits: own, requests: asked } = recordOf(spec.resources);
  // Resources of the pod as a whole decide alone.
  const all = (own ?? asked) ? [spec] : [...arrayOf(spec.containers), ...arrayOf(spec.initContainers)];
  for (const each of all) {
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
