import type { StoredObject } from '../../types.ts';
import { arrayOf, at, recordOf, textOf } from '../json.ts';
import {
  ageColumn,
  ageOf,
  type Column,
  conditionOf,
  containerImages,
  containerNames,
  countColumn,
  field,
  labelsText,
  NONE,
  nameColumn,
  number,
  selectorText,
  textColumn,
  UNKNOWN,
  wideColumn,
} from './columns.ts';
import { podColumns } from './pods.ts';

const template: readonly Column[] = [
  wideColumn('Containers', (object) => containerNames(at(object, 'spec', 'template', 'spec'))),
  wideColumn('Images', (object) => containerImages(at(object, 'spec', 'template', 'spec'))),
  wideColumn('Selector', (object) => selectorText(at(object, 'spec', 'selector'))),
];

const daemonSetColumns: readonly Column[] = [
  nameColumn,
  countColumn('Desired', number('status', 'desiredNumberScheduled')),
  countColumn('Current', number('status', 'currentNumberScheduled')),
  countColumn('Ready', number('status', 'numberReady')),
  countColumn('Up-to-date', number('status', 'updatedNumberScheduled')),
  countColumn('Available', number('status', 'numberAvailable')),
  textColumn('Node Selector', (object) => labelsText(at(object, 'spec', 'template', 'spec', 'nodeSelector'))),
  ageColumn,
  ...template,
];

const desired = number('spec', 'replicas');

const deploymentColumns: readonly Column[] = [
  nameColumn,
  textColumn('Ready', (object) => `${number('status', 'readyReplicas')(object)}/${desired(object)}`),
  countColumn('Up-to-date', number('status', 'updatedReplicas')),
  countColumn('Available', number('status', 'availableReplicas')),
  ageColumn,
  ...template,
];

const replicaSetColumns: readonly Column[] = [
  nameColumn,
  countColumn('Desired', desired),
  countColumn('Current', number('status', 'replicas')),
  countColumn('Ready', number('status', 'readyReplicas')),
  ageColumn,
  ...template,
];

const controllerOf = (object: StoredObject): string => {
  const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (!owner) return NONE;
  const [group = '', version] = owner.apiVersion.split('/');
  return `${owner.kind.toLowerCase()}${version === undefined ? '' : `.${group}`}/${owner.name}`;
};

const revisionColumns: readonly Column[] = [
  nameColumn,
  textColumn('Controller', controllerOf),
  countColumn('Revision', number('revision')),
  ageColumn,
];

const portText = (port: unknown): string => {
  const node = Number(at(port, 'nodePort') ?? 0);
  return `${String(at(port, 'port'))}${node > 0 ? `:${node}` : ''}/${textOf(at(port, 'protocol'))}`;
};

const serviceColumns: readonly Column[] = [
  nameColumn,
  textColumn('Type', (object) => textOf(at(object, 'spec', 'type'))),
  textColumn('Cluster-IP', (object) => textOf(at(object, 'spec', 'clusterIP')) || NONE),
  textColumn('External-IP', () => NONE),
  textColumn(
    'Port(s)',
    (object) =>
      arrayOf(at(object, 'spec', 'ports'))
        .map(portText)
        .join(',') || NONE,
  ),
  ageColumn,
  wideColumn('Selector', (object) => labelsText(recordOf(at(object, 'spec', 'selector')))),
];

const statusText = (node: StoredObject): string => {
  const { status } = conditionOf(node, 'Ready');
  const words = [status === undefined ? 'Unknown' : status === 'True' ? 'Ready' : 'NotReady'];
  if (at(node, 'spec', 'unschedulable') === true) words.push('SchedulingDisabled');
  return words.join(',');
};

const ROLE = 'node-role.kubernetes.io/';

const rolesText = (node: StoredObject): string => {
  const labels = recordOf(node.metadata.labels);
  const roles = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(ROLE) && key.length > ROLE.length) return [key.slice(ROLE.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [String(value)] : [];
  });
  return roles.length === 0 ? NONE : [...new Set(roles)].toSorted().join(',');
};

const address =
  (type: string) =>
  (node: StoredObject): string => {
    const found = arrayOf(at(node, 'status', 'addresses')).find((each) => at(each, 'type') === type);
    return textOf(at(found, 'address')) || NONE;
  };

const info = (name: string): ((node: StoredObject) => string) => field(UNKNOWN, 'status', 'nodeInfo', name);

const nodeColumns: readonly Column[] = [
  nameColumn,
  textColumn('Status', statusText),
  textColumn('Roles', rolesText),
  textColumn('Age', (node, now) => ageOf(node.metadata.creationTimestamp, now)),
  textColumn('Version', field('', 'status', 'nodeInfo', 'kubeletVersion')),
  wideColumn('Internal-IP', address('InternalIP')),
  wideColumn('External-IP', address('ExternalIP')),
  wideColumn('OS-Image', info('osImage')),
  wideColumn('Kernel-Version', info('kernelVersion')),
  wideColumn('Container-Runtime', info('containerRuntimeVersion')),
];

// Both Event APIs use these columns: each reads the field names of either.
const either = (event: StoredObject, core: string, other: string): unknown => event[core] ?? event[other];

const about = (event: StoredObject): unknown => either(event, 'involvedObject', 'regarding');

const firstSeen = (event: StoredObject): string =>
  textOf(either(event, 'firstTimestamp', 'deprecatedFirstTimestamp')) || textOf(event.eventTime);

const lastSeen = (event: StoredObject): string =>
  textOf(at(event, 'series', 'lastObservedTime')) ||
  textOf(either(event, 'lastTimestamp', 'deprecatedLastTimestamp')) ||
  firstSeen(event);

const countOf = (event: StoredObject): number =>
  Number(at(event, 'series', 'count') ?? either(event, 'count', 'deprecatedCount') ?? 1);

const sourceText = (event: StoredObject): string => {
  const source = either(event, 'source', 'deprecatedSource');
  const component =
    textOf(at(source, 'component')) || textOf(either(event, 'reportingComponent', 'reportingController'));
  const host = textOf(at(source, 'host')) || textOf(event.reportingInstance);
  return host === '' ? component : `${component}, ${host}`;
};

const eventColumns: readonly Column[] = [
  textColumn('Last Seen', (event, now) => ageOf(lastSeen(event), now)),
  textColumn('Type', (event) => textOf(event.type)),
  textColumn('Reason', (event) => textOf(event.reason)),
  textColumn(
    'Object',
    (event) => `${textOf(at(about(event), 'kind')).toLowerCase()}/${textOf(at(about(event), 'name'))}`,
  ),
  wideColumn('Subobject', (event) => textOf(at(about(event), 'fieldPath'))),
  wideColumn('Source', sourceText),
  textColumn('Message', (event) => textOf(either(event, 'message', 'note')).trim()),
  wideColumn('First Seen', (event, now) => ageOf(firstSeen(event), now)),
  wideColumn('Count', countOf),
  { ...nameColumn, priority: 1 },
];

const created: Column = textColumn('Created At', (object) => object.metadata.creationTimestamp ?? UNKNOWN_TIME);
const UNKNOWN_TIME = '<unknown>';

const size = (name: string): Column =>
  textColumn(
    'Data',
    (object) => Object.keys(recordOf(object[name])).length + Object.keys(recordOf(object.binaryData)).length,
  );

const roleText = (object: { readonly [field: string]: unknown }): string =>
  `${textOf(at(object, 'roleRef', 'kind'))}/${textOf(at(object, 'roleRef', 'name'))}`;

const subjects =
  (kind: string) =>
  (object: { readonly [field: string]: unknown }): string =>
    arrayOf(object.subjects)
      .filter((subject) => at(subject, 'kind') === kind)
      .map((subject) =>
        kind === 'ServiceAccount'
          ? `${textOf(at(subject, 'namespace'))}/${textOf(at(subject, 'name'))}`
          : textOf(at(subject, 'name')),
      )
      .join(', ');

const bindings: readonly Column[] = [
  nameColumn,
  textColumn('Role', roleText),
  ageColumn,
  wideColumn('Users', subjects('User')),
  wideColumn('Groups', subjects('Group')),
  wideColumn('ServiceAccounts', subjects('ServiceAccount')),
];

const budgetText = (name: string): Column =>
  textColumn(name === 'minAvailable' ? 'Min Available' : 'Max Unavailable', field('N/A', 'spec', name));

/** The `kubectl get` columns of built-in kinds, by collection. */
const builtin: Readonly<Record<string, readonly Column[]>> = {
  pods: podColumns,
  nodes: nodeColumns,
  events: eventColumns,
  services: serviceColumns,
  'daemonsets.apps': daemonSetColumns,
  'deployments.apps': deploymentColumns,
  'replicasets.apps': replicaSetColumns,
  'controllerrevisions.apps': revisionColumns,
  namespaces: [nameColumn, textColumn('Status', field('', 'status', 'phase')), ageColumn],
  podtemplates: [
    nameColumn,
    textColumn('Containers', (object) => containerNames(at(object, 'template', 'spec'))),
    textColumn('Images', (object) => containerImages(at(object, 'template', 'spec'))),
    textColumn('Pod Labels', (object) => labelsText(at(object, 'template', 'metadata', 'labels'))),
  ],
  configmaps: [nameColumn, size('data'), ageColumn],
  secrets: [nameColumn, textColumn('Type', field('', 'type')), size('data'), ageColumn],
  serviceaccounts: [nameColumn, textColumn('Secrets', (object) => arrayOf(object.secrets).length), ageColumn],
  'leases.coordination.k8s.io': [nameColumn, textColumn('Holder', field('', 'spec', 'holderIdentity')), ageColumn],
  'customresourcedefinitions.apiextensions.k8s.io': [nameColumn, created],
  'clusterroles.rbac.authorization.k8s.io': [nameColumn, created],
  'roles.rbac.authorization.k8s.io': [nameColumn, created],
  'clusterrolebindings.rbac.authorization.k8s.io': bindings,
  'rolebindings.rbac.authorization.k8s.io': bindings,
  'networkpolicies.networking.k8s.io': [
    nameColumn,
    textColumn('Pod-Selector', (object) => selectorText(at(object, 'spec', 'podSelector'))),
    ageColumn,
  ],
  'poddisruptionbudgets.policy': [
    nameColumn,
    budgetText('minAvailable'),
    budgetText('maxUnavailable'),
    countColumn('Allowed Disruptions', number('status', 'disruptionsAllowed')),
    ageColumn,
  ],
  'priorityclasses.scheduling.k8s.io': [
    nameColumn,
    countColumn('Value', number('value')),
    textColumn('Global-Default', (object) => object.globalDefault === true),
    ageColumn,
    textColumn('PreemptionPolicy', field('', 'preemptionPolicy')),
  ],
};

export const builtinColumns = (collection: string): readonly Column[] => builtin[collection] ?? [nameColumn, ageColumn];
