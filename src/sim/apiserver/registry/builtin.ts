import { definitionStrategy } from '../crd/definition.ts';
import { eventFromStorage, eventToStorage } from './events.ts';
import { selectableFields } from './fields.ts';
import type { Kind, Subresource } from './kind.ts';
import * as strategies from './strategies/index.ts';
import type { Strategy } from './strategy.ts';

const READ_WRITE = ['get', 'patch', 'update'];
const status: Subresource = { name: 'status', verbs: READ_WRITE };

interface Row {
  /** `plural Kind`, with `short`-names behind it. */
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
  { names: 'configmaps ConfigMap cm', strategy: strategies.configMapStrategy },
  {
    names: 'events Event ev',
    strategy: strategies.eventStrategy,
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
    strategy: strategies.namespaceStrategy,
    cluster: true,
    subresources: [{ name: 'finalize', verbs: ['update'] }, status],
    fields: ['status.phase'],
  },
  {
    names: 'nodes Node no',
    strategy: strategies.nodeStrategy,
    cluster: true,
    subresources: [status],
    fields: ['spec.unschedulable:false'],
  },
  {
    names: 'pods Pod po',
    strategy: strategies.podStrategy,
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
  { names: 'podtemplates PodTemplate', strategy: strategies.podTemplateStrategy },
  { names: 'secrets Secret', strategy: strategies.secretStrategy, fields: ['type'] },
  {
    names: 'serviceaccounts ServiceAccount sa',
    strategy: strategies.serviceAccountStrategy,
    subresources: [create('token', { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' })],
  },
  {
    names: 'services Service svc',
    strategy: strategies.serviceStrategy,
    all: true,
    subresources: [status],
    fields: ['spec.clusterIP', 'spec.type'],
  },
];

const apps: readonly Row[] = [
  { names: 'controllerrevisions ControllerRevision', strategy: strategies.revisionStrategy },
  { names: 'daemonsets DaemonSet ds', strategy: strategies.daemonSetStrategy, all: true, subresources: [status] },
  {
    names: 'deployments Deployment deploy',
    strategy: strategies.deploymentStrategy,
    all: true,
    subresources: [status],
  },
  {
    names: 'replicasets ReplicaSet rs',
    strategy: strategies.replicaSetStrategy,
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
        strategy: strategies.newEventStrategy,
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
        strategy: strategies.budgetStrategy,
        subresources: [status],
      },
    ],
  },
  {
    group: 'networking.k8s.io',
    rows: [{ names: 'networkpolicies NetworkPolicy netpol', strategy: strategies.networkPolicyStrategy }],
  },
  {
    group: 'rbac.authorization.k8s.io',
    rows: [
      { names: 'clusterrolebindings ClusterRoleBinding', strategy: strategies.bindingStrategy, cluster: true },
      { names: 'clusterroles ClusterRole', strategy: strategies.roleStrategy, cluster: true },
      { names: 'rolebindings RoleBinding', strategy: strategies.bindingStrategy },
      { names: 'roles Role', strategy: strategies.roleStrategy },
    ],
  },
  {
    group: 'scheduling.k8s.io',
    rows: [{ names: 'priorityclasses PriorityClass pc', strategy: strategies.priorityClassStrategy, cluster: true }],
  },
  {
    group: 'admissionregistration.k8s.io',
    rows: [
      {
        names: 'validatingadmissionpolicies ValidatingAdmissionPolicy',
        strategy: strategies.newEventStrategy,
        cluster: true,
        categories: ['api-extensions'],
      },
      {
        names: 'validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding',
        strategy: strategies.newEventStrategy,
        cluster: true,
        categories: ['api-extensions'],
      },
    ],
  },
  { group: 'coordination.k8s.io', rows: [{ names: 'leases Lease', strategy: strategies.leaseStrategy }] },
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

/** Every built-in kind, in the order in which discovery lists them. */
export const builtinKinds: readonly Kind[] = groups.flatMap(({ group, rows }) => rows.map((row) => toKind(group, row)));
