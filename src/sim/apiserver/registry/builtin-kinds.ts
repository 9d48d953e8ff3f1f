import { definitionStrategy } from '../crd/definition.ts';
import { selectableFields } from '../field-selectors.ts';
import { eventFromStorage, eventToStorage } from './event-conversion.ts';
import type { Kind, Strategy, Subresource } from './kind.ts';
import {
  bindingStrategy,
  budgetStrategy,
  configMapStrategy,
  eventStrategy,
  leaseStrategy,
  namespaceStrategy,
  networkPolicyStrategy,
  newEventStrategy,
  nodeStrategy,
  priorityClassStrategy,
  roleStrategy,
  secretStrategy,
  serviceAccountStrategy,
  serviceStrategy,
} from './strategies/core.ts';
import { podStrategy } from './strategies/pod.ts';
import {
  daemonSetStrategy,
  deploymentStrategy,
  podTemplateStrategy,
  replicaSetStrategy,
  revisionStrategy,
} from './strategies/workload.ts';

const READ_WRITE = ['get', 'patch', 'update'];
const status: Subresource = { name: 'status', verbs: READ_WRITE };

interface Row {
  /** `plural Kind shortName...` */
  names: string;
  strategy: Strategy;
  cluster?: true;
  all?: true;
  categories?: readonly string[];
  subresources?: readonly Subresource[];
  fields?: readonly string[];
  extra?: Partial<Kind>;
}

const create = (name: string, kind: NonNullable<Subresource['kind']>): Subresource => ({
  name,
  verbs: ['create'],
  kind,
});

const core: readonly Row[] = [
  { names: 'configmaps ConfigMap cm', strategy: configMapStrategy },
  {
    names: 'events Event ev',
    strategy: eventStrategy,
    fields: [
      'involvedObject.kind',
      'involvedObject.namespace',
      'involvedObject.name',
      'involvedObject.uid',
      'involvedObject.apiVersion',
      'involvedObject.resourceVersion',
      'involvedObject.fieldPath',
      'reason',
      'reportingComponent',
      'source',
      'type',
    ],
  },
  {
    names: 'namespaces Namespace ns',
    strategy: namespaceStrategy,
    cluster: true,
    subresources: [{ name: 'finalize', verbs: ['update'] }, status],
    fields: ['status.phase'],
  },
  {
    names: 'nodes Node no',
    strategy: nodeStrategy,
    cluster: true,
    subresources: [status],
    fields: ['spec.unschedulable:false'],
  },
  {
    names: 'pods Pod po',
    strategy: podStrategy,
    all: true,
    subresources: [
      create('binding', { group: '', version: 'v1', kind: 'Binding' }),
      { name: 'ephemeralcontainers', verbs: READ_WRITE },
      create('eviction', { group: 'policy', version: 'v1', kind: 'Eviction' }),
      { name: 'resize', verbs: READ_WRITE },
      status,
    ],
    fields: [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork:false',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ],
  },
  { names: 'podtemplates PodTemplate', strategy: podTemplateStrategy },
  { names: 'secrets Secret', strategy: secretStrategy, fields: ['type'] },
  {
    names: 'serviceaccounts ServiceAccount sa',
    strategy: serviceAccountStrategy,
    subresources: [create('token', { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' })],
  },
  {
    names: 'services Service svc',
    strategy: serviceStrategy,
    all: true,
    subresources: [status],
    fields: ['spec.clusterIP', 'spec.type'],
  },
];

const apps: readonly Row[] = [
  { names: 'controllerrevisions ControllerRevision', strategy: revisionStrategy },
  { names: 'daemonsets DaemonSet ds', strategy: daemonSetStrategy, all: true, subresources: [status] },
  {
    names: 'deployments Deployment deploy',
    strategy: deploymentStrategy,
    all: true,
    subresources: [status],
  },
  {
    names: 'replicasets ReplicaSet rs',
    strategy: replicaSetStrategy,
    all: true,
    subresources: [status],
    fields: ['status.replicas'],
  },
];

const groups: readonly { group: string; rows: readonly Row[] }[] = [
  { group: '', rows: core },
  {
    group: 'apiextensions.k8s.io',
    rows: [
      {
        names: 'customresourcedefinitions CustomResourceDefinition crd crds',
        strategy: definitionStrategy,
        cluster: true,
        categories: ['api-extensions'],
        subresources: [status],
      },
    ],
  },
  { group: 'apps', rows: apps },
  {
    group: 'events.k8s.io',
    rows: [
      {
        names: 'events Event ev',
        strategy: newEventStrategy,
        fields: [
          'regarding.kind',
          'regarding.namespace',
          'regarding.name',
          'regarding.uid',
          'regarding.apiVersion',
          'regarding.resourceVersion',
          'regarding.fieldPath',
          'reason',
          'reportingController',
          'type',
        ],
        extra: { collection: 'events', fromStorageVersion: eventFromStorage, toStorageVersion: eventToStorage },
      },
    ],
  },
  {
    group: 'policy',
    rows: [
      {
        names: 'poddisruptionbudgets PodDisruptionBudget pdb',
        strategy: budgetStrategy,
        subresources: [status],
      },
    ],
  },
  {
    group: 'networking.k8s.io',
    rows: [{ names: 'networkpolicies NetworkPolicy netpol', strategy: networkPolicyStrategy }],
  },
  {
    group: 'rbac.authorization.k8s.io',
    rows: [
      { names: 'clusterrolebindings ClusterRoleBinding', strategy: bindingStrategy, cluster: true },
      { names: 'clusterroles ClusterRole', strategy: roleStrategy, cluster: true },
      { names: 'rolebindings RoleBinding', strategy: bindingStrategy },
      { names: 'roles Role', strategy: roleStrategy },
    ],
  },
  {
    group: 'scheduling.k8s.io',
    rows: [{ names: 'priorityclasses PriorityClass pc', strategy: priorityClassStrategy, cluster: true }],
  },
  {
    group: 'admissionregistration.k8s.io',
    rows: [
      {
        names: 'validatingadmissionpolicies ValidatingAdmissionPolicy',
        strategy: newEventStrategy,
        cluster: true,
        categories: ['api-extensions'],
      },
      {
        names: 'validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding',
        strategy: newEventStrategy,
        cluster: true,
        categories: ['api-extensions'],
      },
    ],
  },
  { group: 'coordination.k8s.io', rows: [{ names: 'leases Lease', strategy: leaseStrategy }] },
];

const toKind = (group: string, row: Row): Kind => {
  const [plural = '', kind = '', ...shortNames] = row.names.split(' ');
  return {
    group,
    version: 'v1',
    plural,
    kind,
    namespaced: row.cluster !== true,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames,
    categories: row.all ? ['all'] : (row.categories ?? []),
    subresources: row.subresources ?? [],
    collection: group === '' ? plural : `${plural}.${group}`,
    fields: selectableFields(...(row.fields ?? [])),
    strategy: row.strategy,
    definition: group === '' ? `v1/${kind}` : `${group}/v1/${kind}`,
    ...row.extra,
  };
};

/** All built-in kinds, in discovery order. */
export const builtinKinds: readonly Kind[] = groups.flatMap(({ group, rows }) => rows.map((row) => toKind(group, row)));
