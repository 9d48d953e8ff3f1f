import type { Attempt, Call } from './caller.ts';

/** Pods of the fixture, by why the agent of node-1 may not delete each; all but `unannounced` and `asked` are announced. */
export interface FixturePods {
  /** On node-1, of an OTA DaemonSet, `PodNeedUpgrade` True: the one that the agent may delete. */
  mine: string;
  /** The same on node-2. */
  elsewhere: string;
  unannounced: string;
  /** Not announced; the manager asks for images. */
  asked: string;
  current: string;
  halted: string;
  bare: string;
  ofReplicaSet: string;
  ofAdvanced: string;
  mirror: string;
  /** In a namespace without a binding. */
  unbound: string;
}

export const hash = '5d4f8c7b9';
const announcement = `controllerrevision: ${hash}`;

/** By RBAC: the verb or the kind is none of an agent's. */
const byRbac = /cannot|is forbidden: User/;

export const podPath = (namespace: string, name: string, sub = ''): string =>
  `/api/v1/namespaces/${namespace}/pods/${name}${sub}`;

export const condition = (type: string, status: string, reason: string, message = announcement): object => ({
  status: { conditions: [{ type, status, reason, message }] },
});

export const eventOf = (namespace: string, node: string, change: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { generateName: 'app-', namespace },
  eventTime: new Date().toISOString().replace('Z', '000Z'),
  reportingComponent: 'edgeset.io/agent',
  reportingInstance: node,
  type: 'Normal',
  reason: 'Approved',
  action: 'Decide',
  message: 'The owner approved revision b.',
  firstTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
  involvedObject: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace, name: 'app' },
  ...change,
});

export const eventsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/events`;

type Preconditions = Record<string, { uid: string; resourceVersion: string }>;

/** Deletes that an agent has every precondition for, and one thing against. */
const deletes = (ns: string, pods: FixturePods, known: Preconditions): Attempt[] => {
  const remove = (what: string, name: string, says: RegExp, options: object = {}): Attempt => ({
    what: `delete ${what}`,
    call: { method: 'DELETE', path: podPath(ns, name), body: { preconditions: known[name], ...options } },
    says,
  });
  return [
    remove("another node's pod", pods.elsewhere, /is on node "node-2", these credentials are for node "node-1"/),
    remove('a pod without PodNeedUpgrade', pods.unannounced, /has no condition PodNeedUpgrade\. Opt its DaemonSet in/),
    remove('a pod with PodNeedUpgrade False', pods.current, /is not True, or says that its revision is halted/),
    remove('a pod of a halted revision', pods.halted, /is not True, or says that its revision is halted/),
    remove('a bare pod', pods.bare, /does not belong to a DaemonSet of group apps/),
    remove('a pod of a ReplicaSet', pods.ofReplicaSet, /does not belong to a DaemonSet of group apps/),
    remove('a pod of an Advanced DaemonSet', pods.ofAdvanced, /record condition UpgradeApproved instead/),
    remove("a static pod's mirror", pods.mirror, /does not belong to a DaemonSet of group apps/),
    remove('without preconditions', pods.mine, /must carry the pod's uid and resourceVersion/, {
      preconditions: undefined,
    }),
    remove('with a uid alone', pods.mine, /must carry the pod's uid and resourceVersion/, {
      preconditions: { uid: known[pods.mine]?.uid },
    }),
    remove('at once, without its time to end', pods.mine, /must leave the pod the time to end/, {
      gracePeriodSeconds: 0,
    }),
    {
      ...remove('the pod that was there before', pods.mine, /the UID in the precondition/, {
        preconditions: { ...known[pods.mine], uid: 'another' },
      }),
      status: 409,
    },
    {
      what: 'delete all pods of the namespace',
      call: { method: 'DELETE', path: `/api/v1/namespaces/${ns}/pods` },
      says: byRbac,
    },
  ];
};

const reports = (ns: string, pods: FixturePods): Attempt[] => {
  const report = (what: string, name: string, body: unknown, says: RegExp, patch?: Call['patch']): Attempt => ({
    what: `report ${what}`,
    call: { method: 'PATCH', path: podPath(ns, name, '/status'), body, ...(patch && { patch }) },
    says,
  });
  const alone = /may change conditions PodImageReady and UpgradeApproved and nothing else/;
  const pulling = condition('PodImageReady', 'False', 'PullingImage');
  return [
    report("for another node's pod", pods.elsewhere, pulling, /is on node "node-2"/),
    report('for a pod whose images the manager requests', pods.asked, pulling, /has no condition PodNeedUpgrade/),
    report('for a pod that did not opt in', pods.unannounced, pulling, /has no condition PodNeedUpgrade/),
    report('Ready', pods.mine, condition('Ready', 'False', 'Lie'), alone),
    report('PodNeedUpgrade', pods.current, condition('PodNeedUpgrade', 'True', 'NewRevision'), alone),
    report('its own condition making', pods.mine, condition('Mine', 'True', 'Mine'), alone),
    report(
      'away another condition',
      pods.mine,
      { status: { conditions: [{ type: 'PodScheduled', $patch: 'delete' }] } },
      alone,
    ),
    report(
      'away PodNeedUpgrade',
      pods.mine,
      { status: { conditions: [{ type: 'PodNeedUpgrade', $patch: 'delete' }] } },
      alone,
    ),
    report('all conditions away', pods.mine, { status: { conditions: null } }, alone, 'merge-patch'),
    report('another phase', pods.mine, { status: { phase: 'Failed' } }, alone),
    report("a container's status", pods.mine, { status: { containerStatuses: null } }, alone, 'merge-patch'),
    report(
      'another address',
      pods.mine,
      { status: { podIP: '10.9.9.9', podIPs: [{ $patch: 'replace' }, { ip: '10.9.9.9' }] } },
      alone,
    ),
    report('a nominated node', pods.mine, { status: { nominatedNodeName: 'node-2' } }, alone),
    report('a label', pods.mine, { metadata: { labels: { stolen: 'yes' } } }, /may not change the pod's metadata/),
    report(
      'an annotation beside an honest report',
      pods.mine,
      { metadata: { annotations: { stolen: 'yes' } }, ...pulling },
      /may not change the pod's metadata/,
    ),
    report(
      'a finalizer',
      pods.mine,
      { metadata: { finalizers: ['example.com/held'] } },
      /may not change the pod's metadata/,
    ),
    ...(
      [
        ['True', 'PullImageSuccess'],
        ['False', 'PullImageFail'],
        ['Unknown', 'PullingImage'],
      ] as const
    ).map(([status, reason]) =>
      report(
        `PodImageReady ${status} ${reason}`,
        pods.mine,
        condition('PodImageReady', status, reason),
        /PodImageReady is False with reason PullingImage/,
      ),
    ),
    report(
      'PodImageReady for no revision',
      pods.mine,
      condition('PodImageReady', 'False', 'PullImageFail', 'no space'),
      /begins with "controllerrevision: HASH"/,
    ),
    report(
      'PodImageReady with a book for a message',
      pods.mine,
      condition('PodImageReady', 'False', 'PullImageFail', `${announcement}; ${'x'.repeat(1024)}`),
      /at most 1024 characters/,
    ),
    report(
      'PodImageReady away',
      pods.halted,
      { status: { conditions: [{ type: 'PodImageReady', $patch: 'delete' }] } },
      /may be set, not removed/,
    ),
    report(
      'PodImageReady twice',
      pods.mine,
      ['True', 'False'].map((status, at) => ({
        op: 'add',
        path: '/status/conditions/-',
        value: {
          type: 'PodImageReady',
          status,
          reason: at === 0 ? 'PullImageSuccess' : 'PullingImage',
          message: announcement,
        },
      })),
      /may be set, not removed, and each stands once/,
      'json-patch',
    ),
    report(
      'UpgradeApproved for another revision',
      pods.mine,
      condition('UpgradeApproved', 'True', 'OwnerApproved', 'controllerrevision: other'),
      /for the revision that PodNeedUpgrade announces/,
    ),
    report(
      'UpgradeApproved where nothing is announced',
      pods.current,
      condition('UpgradeApproved', 'True', 'OwnerApproved'),
      /for the revision that PodNeedUpgrade announces/,
    ),
    report(
      'UpgradeApproved of a halted revision',
      pods.halted,
      condition('UpgradeApproved', 'True', 'OwnerApproved'),
      /for the revision that PodNeedUpgrade announces/,
    ),
    report(
      'UpgradeApproved withdrawn for another revision',
      pods.mine,
      condition('UpgradeApproved', 'False', 'Withdrawn', 'controllerrevision: other'),
      /for the revision that PodNeedUpgrade announces/,
    ),
    report(
      'UpgradeApproved in the words of a withdrawal',
      pods.mine,
      condition('UpgradeApproved', 'True', 'Withdrawn'),
      /True with reason OwnerApproved/,
    ),
    report(
      'UpgradeApproved without its reason',
      pods.mine,
      condition('UpgradeApproved', 'True', 'AgentApproved'),
      /True with reason OwnerApproved/,
    ),
  ];
};

const events = (ns: string, pods: FixturePods): Attempt[] => {
  const tell = (what: string, change: object, says = /an Event of this agent is about a DaemonSet/): Attempt => ({
    what: `an Event ${what}`,
    call: { method: 'POST', path: eventsPath(ns), body: eventOf(ns, 'node-1', change) },
    says,
  });
  const stays = (what: string, metadata: object): Attempt =>
    tell(
      `with ${what}`,
      { metadata: { generateName: 'app-', namespace: ns, ...metadata } },
      /an Event has no finalizers and no ownerReferences/,
    );
  return [
    tell('in the name of another node', { reportingInstance: 'node-2' }),
    tell('in the name of the manager', { reportingComponent: 'edgeset.io/manager' }),
    tell('about a pod', { involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: ns, name: 'x' } }),
    tell('about a look-alike', {
      involvedObject: { apiVersion: 'appsy/v1', kind: 'DaemonSet', namespace: ns, name: 'x' },
    }),
    stays('a finalizer', { finalizers: ['example.org/keep'] }),
    stays('an owner', { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: pods.mine, uid: 'x' }] }),
  ];
};

const others = (ns: string, elsewhere: string, pods: FixturePods): Attempt[] => {
  const rbac = (what: string, call: Call): Attempt => ({ what, call, says: byRbac });
  const apps = `/apis/apps/v1/namespaces/${ns}`;
  const get = (what: string, path: string): Attempt => rbac(what, { method: 'GET', path });
  const pod = { metadata: { name: 'x' }, spec: { containers: [{ name: 'x', image: 'x' }] } };
  const account = '/api/v1/namespaces/edgeset-agent/serviceaccounts/edgeset-agent/token';
  return [
    rbac('create a pod', { method: 'POST', path: `/api/v1/namespaces/${ns}/pods`, body: pod }),
    rbac("change a pod's image", {
      method: 'PATCH',
      path: podPath(ns, pods.mine),
      body: { spec: { containers: [{ name: 'app', image: 'evil' }] } },
    }),
    rbac("change a pod's labels", {
      method: 'PATCH',
      path: podPath(ns, pods.mine),
      body: { metadata: { labels: { a: 'b' } } },
    }),
    rbac("replace a pod's status", { method: 'PUT', path: podPath(ns, pods.mine, '/status'), body: pod }),
    rbac('evict a pod', {
      method: 'POST',
      path: podPath(ns, pods.mine, '/eviction'),
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pods.mine, namespace: ns } },
    }),
    rbac('bind a pod', {
      method: 'POST',
      path: podPath(ns, pods.mine, '/binding'),
      body: { metadata: { name: pods.mine }, target: { kind: 'Node', name: 'node-2' } },
    }),
    rbac('execute in a pod', { method: 'POST', path: podPath(ns, pods.mine, '/exec?command=id&stdout=true') }),
    rbac('attach to a pod', { method: 'POST', path: podPath(ns, pods.mine, '/attach?stdout=true') }),
    rbac('forward a port', { method: 'POST', path: podPath(ns, pods.mine, '/portforward?ports=80') }),
    rbac('go through a pod', { method: 'GET', path: podPath(ns, pods.mine, '/proxy/') }),
    rbac('add an ephemeral container', {
      method: 'PATCH',
      path: podPath(ns, pods.mine, '/ephemeralcontainers'),
      body: { spec: { ephemeralContainers: [{ name: 'x', image: 'x' }] } },
    }),
    rbac('resize a pod', { method: 'PATCH', path: podPath(ns, pods.mine, '/resize'), body: { spec: {} } }),
    get("read a pod's log", podPath(ns, pods.mine, '/log')),
    rbac('change a DaemonSet', {
      method: 'PATCH',
      path: `${apps}/daemonsets/app`,
      body: { metadata: { annotations: { 'apps.openyurt.io/update-strategy': 'ota' } } },
    }),
    rbac('delete a DaemonSet', { method: 'DELETE', path: `${apps}/daemonsets/app` }),
    rbac('delete a ControllerRevision', { method: 'DELETE', path: `${apps}/controllerrevisions/x` }),
    rbac('change a rollout', {
      method: 'PATCH',
      path: `/apis/edgeset.io/v1alpha1/namespaces/${ns}/daemonrollouts/app/status`,
      body: { status: {} },
      patch: 'merge-patch',
    }),
    get('list the pods of an unbound namespace', `/api/v1/namespaces/${elsewhere}/pods`),
    get('list the pods of all namespaces', '/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1'),
    rbac('delete a pod of an unbound namespace', { method: 'DELETE', path: podPath(elsewhere, pods.unbound) }),
    rbac('report for a pod of an unbound namespace', {
      method: 'PATCH',
      path: podPath(elsewhere, pods.unbound, '/status'),
      body: condition('PodImageReady', 'False', 'PullingImage'),
    }),
    get('read its node', '/api/v1/nodes/node-1'),
    get('list nodes', '/api/v1/nodes'),
    rbac('say how to reach the administrator', {
      method: 'PATCH',
      path: '/api/v1/nodes/node-1',
      body: { metadata: { annotations: { 'edgeset.io/administrator': '+49 30 1234567' } } },
    }),
    get('list secrets', `/api/v1/namespaces/${ns}/secrets`),
    get('read a secret', `/api/v1/namespaces/${ns}/secrets/pull`),
    get('list configmaps', `/api/v1/namespaces/${ns}/configmaps`),
    rbac('make itself a token', {
      method: 'POST',
      path: account,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    }),
    rbac('ask for a certificate', {
      method: 'POST',
      path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      body: {
        metadata: { name: 'x' },
        spec: { signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'], request: 'eA==' },
      },
    }),
    rbac('take the policy away', {
      method: 'DELETE',
      path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/edgeset-agent',
    }),
    rbac('bind a role to itself', {
      method: 'POST',
      path: `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings`,
      body: { metadata: { name: 'x' }, roleRef: { kind: 'ClusterRole', name: 'admin' } },
    }),
    rbac('be somebody else', {
      method: 'GET',
      path: '/api/v1/nodes',
      headers: { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' },
    }),
    rbac('be the agent of another node', {
      method: 'GET',
      path: `/api/v1/namespaces/${ns}/pods`,
      headers: { 'impersonate-user': 'edgeset:agent:node-2' },
    }),
    rbac('claim another node', {
      method: 'GET',
      path: `/api/v1/namespaces/${ns}/pods`,
      headers: {
        'impersonate-user': 'system:serviceaccount:edgeset-agent:edgeset-agent',
        'impersonate-extra-authentication.kubernetes.io%2fnode-name': 'node-2',
      },
    }),
  ];
};

/** Everything that the agent of node-1 must not be permitted to do, with the expected refusals. */
export const attempts = (
  ns: string,
  unboundNamespace: string,
  pods: FixturePods,
  known: Preconditions,
): readonly Attempt[] => [
  ...deletes(ns, pods, known),
  ...reports(ns, pods),
  ...events(ns, pods),
  ...others(ns, unboundNamespace, pods),
];

/** What the policy refuses even to agents that a careless binding made administrators. */
export const withARoleTooMany = (ns: string, pods: FixturePods): readonly Attempt[] => {
  const collection = `/api/v1/namespaces/${ns}/pods`;
  const says = /is not for agents: they delete one pod at a time/;
  // A resize is looked at for its sense first.
  const writes = others(ns, '', pods).filter(
    ({ call }) => call.method !== 'GET' && call.path.startsWith(collection) && !/\/(status|resize)$/.test(call.path),
  );
  return [
    ...writes,
    { what: 'delete all pods of the namespace', call: { method: 'DELETE', path: collection } as const },
  ].map(({ what, call }) => ({ what, call, says }));
};
