import { arrayOf, at, recordOf, textOf } from '../value/index.ts';
import { containerImages, containerNames, field, labelsText, number, selectorText } from './cells.ts';
import { type Column, count, nameColumn, text, wide } from './column.ts';
import { ageOf } from './duration.ts';
import { eventColumns } from './events.ts';
import { nodeColumns } from './nodes.ts';
import { podColumns } from './pods.ts';
import {
  ageColumn,
  daemonSetColumns,
  deploymentColumns,
  replicaSetColumns,
  revisionColumns,
  serviceColumns,
} from './workloads.ts';

const created: Column = text('Created At', (object) => object.metadata.creationTimestamp ?? UNKNOWN_TIME);
const UNKNOWN_TIME = '<unknown>';

const size = (name: string): Column =>
  text(
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
  text('Role', roleText),
  ageColumn,
  wide('Users', subjects('User')),
  wide('Groups', subjects('Group')),
  wide('ServiceAccounts', subjects('ServiceAccount')),
];

const budgetText = (name: string): Column =>
  text(name === 'minAvailable' ? 'Min Available' : 'Max Unavailable', field('N/A', 'spec', name));

/** By table: what `kubectl get` shows of each built-in kind. */
const builtin: Readonly<Record<string, readonly Column[]>> = {
  pods: podColumns,
  nodes: nodeColumns,
  events: eventColumns,
  services: serviceColumns,
  'daemonsets.apps': daemonSetColumns,
  'deployments.apps': deploymentColumns,
  'replicasets.apps': replicaSetColumns,
  'controllerrevisions.apps': revisionColumns,
  namespaces: [nameColumn, text('Status', field('', 'status', 'phase')), ageColumn],
  podtemplates: [
    nameColumn,
    text('Containers', (object) => containerNames(at(object, 'template', 'spec'))),
    text('Images', (object) => containerImages(at(object, 'template', 'spec'))),
    text('Pod Labels', (object) => labelsText(at(object, 'template', 'metadata', 'labels'))),
  ],
  configmaps: [nameColumn, size('data'), ageColumn],
  secrets: [nameColumn, text('Type', field('', 'type')), size('data'), ageColumn],
  serviceaccounts: [nameColumn, text('Secrets', (object) => arrayOf(object.secrets).length), ageColumn],
  'leases.coordination.k8s.io': [nameColumn, text('Holder', field('', 'spec', 'holderIdentity')), ageColumn],
  'customresourcedefinitions.apiextensions.k8s.io': [nameColumn, created],
  'clusterroles.rbac.authorization.k8s.io': [nameColumn, created],
  'roles.rbac.authorization.k8s.io': [nameColumn, created],
  'clusterrolebindings.rbac.authorization.k8s.io': bindings,
  'rolebindings.rbac.authorization.k8s.io': bindings,
  'networkpolicies.networking.k8s.io': [
    nameColumn,
    text('Pod-Selector', (object) => selectorText(at(object, 'spec', 'podSelector'))),
    ageColumn,
  ],
  'poddisruptionbudgets.policy': [
    nameColumn,
    budgetText('minAvailable'),
    budgetText('maxUnavailable'),
    count('Allowed Disruptions', number('status', 'disruptionsAllowed')),
    ageColumn,
  ],
  'priorityclasses.scheduling.k8s.io': [
    nameColumn,
    count('Value', number('value')),
    text('Global-Default', (object) => object.globalDefault === true),
    ageColumn,
    text('PreemptionPolicy', field('', 'preemptionPolicy')),
  ],
};

const plain: readonly Column[] = [
  nameColumn,
  text('Age', (object, now) => ageOf(object.metadata.creationTimestamp, now)),
];

export const builtinColumns = (table: string): readonly Column[] => builtin[table] ?? plain;
