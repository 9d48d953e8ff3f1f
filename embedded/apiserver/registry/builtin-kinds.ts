import { definitionStrategy } from '../crd/definition.ts';
import { selectableFields } from '../field-selectors.ts';
import { eventFromStorage, eventToStorage } from './event-conversion.ts';
import type { Kind, Strategy, Subresource } from './kind.ts';
import * as core from './strategies/core.ts';
import { podStrategy } from './strategies/pod.ts';
import * as workload from './strategies/workload.ts';

interface Options extends Partial<Omit<Kind, 'fields'>> {
  /** Selectable fields besides those that all kinds have. */
  fields?: readonly string[];
}

/** A kind of version v1; `names` is `plural Kind shortName...` */
const define = (group: string, names: string, strategy: Strategy, { fields = [], ...options }: Options = {}): Kind => {
  const [plural = '', kind = '', ...shortNames] = names.split(' ');
  return {
    group,
    version: 'v1',
    plural,
    kind,
    namespaced: true,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames,
    categories: [],
    subresources: [],
    collection: group === '' ? plural : `${plural}.${group}`,
    fields: selectableFields(...fields),
    strategy,
    definition: group === '' ? `v1/${kind}` : `${group}/v1/${kind}`,
    ...options,
  };
};

const cluster: Options = { namespaced: false };
const inAll: Options = { categories: ['all'] };
const apiExtension: Options = { ...cluster, categories: ['api-extensions'] };

const READ_WRITE = ['get', 'patch', 'update'];
const status: Subresource = { name: 'status', verbs: READ_WRITE };
const withStatus: Options = { subresources: [status] };
/** A subresource that only takes POST, with its own kind. */
const action = (name: string, kind: NonNullable<Subresource['kind']>): Subresource => ({
  name,
  verbs: ['create'],
  kind,
});

const objectReference = (field: string): string[] =>
  ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((name) => `${field}.${name}`);

/** All built-in kinds, in discovery order. */
export const builtinKinds: readonly Kind[] = [
  define('', 'configmaps ConfigMap cm', core.configMapStrategy),
  define('', 'events Event ev', core.eventStrategy, {
    fields: [...objectReference('involvedObject'), 'reason', 'reportingComponent', 'source', 'type'],
  }),
  define('', 'namespaces Namespace ns', core.namespaceStrategy, {
    ...cluster,
    subresources: [{ name: 'finalize', verbs: ['update'] }, status],
    fields: ['status.phase'],
  }),
  define('', 'nodes Node no', core.nodeStrategy, { ...cluster, ...withStatus, fields: ['spec.unschedulable:false'] }),
  define('', 'pods Pod po', podStrategy, {
    ...inAll,
    subresources: [
      action('binding', { group: '', version: 'v1', kind: 'Binding' }),
      { name: 'ephemeralcontainers', verbs: READ_WRITE },
      action('eviction', { group: 'policy', version: 'v1', kind: 'Eviction' }),
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
  }),
  define('', 'podtemplates PodTemplate', workload.podTemplateStrategy),
  define('', 'secrets Secret', core.secretStrategy, { fields: ['type'] }),
  define('', 'serviceaccounts ServiceAccount sa', core.serviceAccountStrategy, {
    subresources: [action('token', { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' })],
  }),
  define('', 'services Service svc', core.serviceStrategy, {
    ...inAll,
    ...withStatus,
    fields: ['spec.clusterIP', 'spec.type'],
  }),
  define('apiextensions.k8s.io', 'customresourcedefinitions CustomResourceDefinition crd crds', definitionStrategy, {
    ...apiExtension,
    ...withStatus,
  }),
  define('apps', 'controllerrevisions ControllerRevision', workload.revisionStrategy),
  define('apps', 'daemonsets DaemonSet ds', workload.daemonSetStrategy, { ...inAll, ...withStatus }),
  define('apps', 'deployments Deployment deploy', workload.deploymentStrategy, { ...inAll, ...withStatus }),
  define('apps', 'replicasets ReplicaSet rs', workload.replicaSetStrategy, {
    ...inAll,
    ...withStatus,
    fields: ['status.replicas'],
  }),
  define('events.k8s.io', 'events Event ev', core.newEventStrategy, {
    collection: 'events',
    fromStorageVersion: eventFromStorage,
    toStorageVersion: eventToStorage,
    fields: [...objectReference('regarding'), 'reason', 'reportingController', 'type'],
  }),
  define('policy', 'poddisruptionbudgets PodDisruptionBudget pdb', core.budgetStrategy, withStatus),
  define('networking.k8s.io', 'networkpolicies NetworkPolicy netpol', core.networkPolicyStrategy),
  define('rbac.authorization.k8s.io', 'clusterrolebindings ClusterRoleBinding', core.roleBindingStrategy, cluster),
  define('rbac.authorization.k8s.io', 'clusterroles ClusterRole', core.roleStrategy, cluster),
  define('rbac.authorization.k8s.io', 'rolebindings RoleBinding', core.roleBindingStrategy),
  define('rbac.authorization.k8s.io', 'roles Role', core.roleStrategy),
  define('scheduling.k8s.io', 'priorityclasses PriorityClass pc', core.priorityClassStrategy, cluster),
  define('admissionregistration.k8s.io', 'validatingadmissionpolicies ValidatingAdmissionPolicy', {}, apiExtension),
  define(
    'admissionregistration.k8s.io',
    'validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding',
    {},
    apiExtension,
  ),
  define('coordination.k8s.io', 'leases Lease', core.leaseStrategy),
];
