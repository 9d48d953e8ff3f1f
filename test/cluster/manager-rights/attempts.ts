import type { Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { pullPodOf } from '../../../src/prefetch/index.ts';
import type { Attempt, Call } from '../agent-rights/caller.ts';

type Identity = { name: string; uid: string };

/** Pods of the fixture, which all run on node-1. */
export interface FixturePods {
  /** Of a native DaemonSet. */
  native: Identity;
  ofAdvanced: Identity;
  bare: Identity;
  /** As a DaemonSet leaves its pods behind that is deleted with --cascade=orphan. */
  left: Identity;
  ofDeployment: Identity;
  /** Its controller is a DaemonSet of a version of apps.kruise.io that is not served. */
  unserved: Identity;
}

/** ControllerRevisions of the fixture. */
export interface FixtureRevisions {
  native: Identity;
  ofAdvanced: Identity;
  left: Identity;
}

export const podPath = (namespace: string, name = '', sub = ''): string =>
  `/api/v1/namespaces/${namespace}/pods${name && `/${name}`}${sub}`;

export const daemonSetPath = (namespace: string, name: string, sub = ''): string =>
  `/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}${sub}`;

export const advancedPath = (namespace: string, name: string, sub = ''): string =>
  `/apis/apps.kruise.io/v1beta1/namespaces/${namespace}/daemonsets/${name}${sub}`;

export const revisionPath = (namespace: string, name = ''): string =>
  `/apis/apps/v1/namespaces/${namespace}/controllerrevisions${name && `/${name}`}`;

export const eventsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/events`;

export const eventOf = (namespace: string, metadata: object = {}): object => ({
  metadata: { generateName: 'app-', ...metadata },
  involvedObject: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace, name: 'app' },
  reportingComponent: 'edgeset.io/manager',
  reportingInstance: 'm',
  type: 'Normal',
  reason: 'Killing',
  action: 'Delete',
  message: 'x',
  eventTime: new Date().toISOString().replace('Z', '000Z'),
});

export const revisionOf = (ownerReferences: object[], metadata: object = {}): object => ({
  metadata: { generateName: 'app-', labels: { 'controller-revision-hash': 'x' }, ownerReferences, ...metadata },
  data: { spec: { template: {} } },
  revision: 7,
});

/** The pull pod as the manager sends it. */
export const pullPod = (namespace: string, of: FixturePods['native'], template: Partial<PodSpec> = {}): Pod =>
  pullPodOf(
    { namespace, name: 'app', uid: 'd1', pullTimeoutMs: 300_000, parallelism: 10 },
    { podUid: of.uid, podName: of.name, resourceVersion: '1', node: 'node-1', revision: 'b', failure: undefined },
    { containers: [{ name: 'app', image: 'app:v2' }], ...template },
  );

export const bodyOf = (ownerReferences: object[] = []): object => ({
  metadata: { generateName: 'app-', ownerReferences },
  spec: { containers: [{ name: 'app', image: 'app:v1' }] },
});

export const controlledBy = (apiVersion: string, name: string, uid: string): object[] => [
  { apiVersion, kind: 'DaemonSet', name, uid, controller: true },
];

/** The owner that a writer makes up. */
const OF_ADVANCED = controlledBy('apps.kruise.io/v1beta1', 'made-up', 'x');

const NONE_SERVED =
  /no Advanced DaemonSets are served here\. To serve them, add advanced to the chart's value controllers/;

/** Where no Advanced DaemonSets are served, that is said first. */
const either = (says: RegExp): RegExp => new RegExp(`${says.source}|${NONE_SERVED.source}`);

const creations = (namespace: string, pods: FixturePods): Attempt[] => {
  const create = (what: string, body: object, says: RegExp): Attempt => ({
    what: `create ${what}`,
    call: { method: 'POST', path: podPath(namespace), body },
    says,
  });
  const pull = pullPod(namespace, pods.native);
  const withSpec = (change: object): Pod => ({ ...pull, spec: { ...pull.spec, ...change } as PodSpec });
  const withContainer = (change: object): Pod =>
    withSpec({ containers: pull.spec?.containers.map((container) => ({ ...container, ...change })) });
  const withMetadata = (change: object): Pod => ({ ...pull, metadata: { ...pull.metadata, ...change } });
  const command = /the command of each container of a pull pod is \/edgeset\.io\/absent/;
  const fields = /a pull pod only pulls, so its spec may not have/;
  const named = /a pull pod is named edgeset-pull-\.\.\., has no finalizer, and its controller is the pod/;
  const rights = /drop all capabilities and have a read-only root/;
  const pod = /a pod that the manager creates has the label edgeset\.io\/prefetch and pulls images, or/;
  const unserved = either(pod);
  return [
    create('a pod', bodyOf(), pod),
    create('a pod of a native DaemonSet', bodyOf(controlledBy('apps/v1', 'app', 'x')), pod),
    create('a pod of a version that is not served', bodyOf(controlledBy('apps.kruise.io/v9', 'x', 'x')), unserved),
    create(
      'a pod of an Advanced DaemonSet and a ConfigMap',
      bodyOf([...OF_ADVANCED, { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'y' }]),
      unserved,
    ),
    create('a pull pod that runs a program', withContainer({ command: ['sh'] }), command),
    create('a pull pod with arguments', withContainer({ args: ['x'] }), command),
    create('a pull pod with an environment', withContainer({ env: [{ name: 'A', value: 'b' }] }), command),
    create('a pull pod with a hook', withContainer({ lifecycle: { preStop: { exec: { command: ['sh'] } } } }), command),
    create('a pull pod with an image alone', withContainer({ command: undefined }), command),
    create('a privileged pull pod', withContainer({ securityContext: { privileged: true } }), rights),
    create('a pull pod with capabilities', withContainer({ securityContext: undefined }), rights),
    create('a pull pod with a volume', withSpec({ volumes: [{ name: 'v', hostPath: { path: '/' } }] }), fields),
    create('a pull pod with an init container', withSpec({ initContainers: [{ name: 'i', image: 'i' }] }), fields),
    create('a pull pod in the PID namespace of the host', withSpec({ hostPID: true }), fields),
    create('a pull pod without a scheduler', withSpec({ nodeName: 'node-1' }), fields),
    create('a pull pod with a token', withSpec({ automountServiceAccountToken: undefined }), /volumes|no token/),
    create('a pull pod that restarts', withSpec({ restartPolicy: 'Always' }), /never restarts/),
    create('a pull pod without an end', withSpec({ activeDeadlineSeconds: undefined }), /has a deadline/),
    create('a pull pod as root', withSpec({ securityContext: { runAsUser: 0 } }), /does not run as root/),
    create('a pull pod of nobody', withMetadata({ ownerReferences: [] }), named),
    create('a pull pod of a DaemonSet', withMetadata({ ownerReferences: controlledBy('apps/v1', 'a', 'x') }), named),
    create('a pull pod with another name', withMetadata({ name: 'mine' }), named),
    create('a pull pod with a finalizer', withMetadata({ finalizers: ['example.org/stays'] }), named),
  ];
};

const changes = (namespace: string, pods: FixturePods): Attempt[] => {
  const call = (what: string, given: Call, says: RegExp): Attempt => ({ what, call: given, says });
  const patch = (name: string, body: object, sub = ''): Call => ({
    method: 'PATCH',
    path: podPath(namespace, name, sub),
    body,
  });
  const only = /the manager may set its annotation edgeset\.io\/fence, return the pod to service, and nothing else/;
  const none = /is not for the manager: it creates, changes and deletes single pods/;
  const remove = (name: string, body?: object): Call => ({ method: 'DELETE', path: podPath(namespace, name), body });
  const image = { spec: { containers: [{ name: 'app', image: 'other:v1' }] } };
  const template = { spec: { template: { spec: { containers: [{ name: 'app', image: 'other:v1' }] } } } };
  const set = (name: string, body: object, sub = ''): Call => ({
    method: 'PATCH',
    path: daemonSetPath(namespace, name, sub),
    body,
  });
  return [
    call('change the image of a native pod', patch(pods.native.name, image), only),
    call('change the labels of a native pod', patch(pods.native.name, { metadata: { labels: { a: 'b' } } }), only),
    call('change an annotation', patch(pods.bare.name, { metadata: { annotations: { a: 'b' } } }), only),
    call('set a finalizer', patch(pods.native.name, { metadata: { finalizers: ['a.io/b'] } }), only),
    call(
      'report a phase',
      patch(pods.native.name, { status: { phase: 'Failed' } }, '/status'),
      /may change conditions/,
    ),
    call('delete a bare pod', remove(pods.bare.name, { preconditions: { uid: pods.bare.uid } }), /nothing would bring/),
    call('delete without a uid', remove(pods.native.name), /must carry the object's uid as a precondition/),
    call(
      'evict a pod',
      {
        method: 'POST',
        path: podPath(namespace, pods.native.name, '/eviction'),
        body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pods.native.name, namespace } },
      },
      none,
    ),
    call('exec', { method: 'POST', path: podPath(namespace, pods.native.name, '/exec?command=sh&stdout=true') }, none),
    call(
      'store a PodTemplate',
      {
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/podtemplates`,
        body: { metadata: { name: 'x' }, template: { spec: { containers: [{ name: 'a', image: 'a' }] } } },
      },
      none,
    ),
    call('delete a DaemonSet', { method: 'DELETE', path: daemonSetPath(namespace, 'app') }, none),
    call(
      'change a template',
      set('app', template),
      /restores a template, and nothing else, where edgeset\.io\/on-fail/,
    ),
    call('label a DaemonSet', set('app', { metadata: { labels: { a: 'b' } } }), /changes its own annotation/),
    call('annotate a DaemonSet', set('app', { metadata: { annotations: { a: 'b' } } }), /changes its own annotation/),
    call(
      'change a strategy',
      set('back', { spec: { updateStrategy: { type: 'RollingUpdate' } } }),
      /nothing else, where/,
    ),
    call('report numbers', set('app', { status: { numberReady: 9 } }, '/status'), /may change conditions/),
  ];
};

/** Dry runs, so that one which is accepted changes nothing for the others. */
const patchOf =
  (
    pathOf: (name: string, sub?: string) => string,
    says: RegExp,
    patch: Call['patch'] & string = 'strategic-merge-patch',
  ) =>
  (what: string, name: string, body: object, sub = ''): Attempt => ({
    what,
    call: { method: 'PATCH', path: `${pathOf(name, sub)}?dryRun=All`, body, patch },
    says,
  });

/** A strategic merge patch that replaces all owners. */
const owned = (owners: object[], metadata: object = {}): { metadata: object } => ({
  metadata: { ownerReferences: [{ $patch: 'replace' }, ...owners], ...metadata },
});

/** With a body, the API server ignores the query. */
export const deletionOf = (path: string, preconditions: object): Call => ({
  method: 'DELETE',
  path,
  body: { preconditions, dryRun: ['All'] },
});

const removeOf =
  (pathOf: (name: string) => string, says: RegExp) =>
  (what: string, { name, uid }: Identity, preconditions: object = { uid }): Attempt => ({
    what,
    call: deletionOf(pathOf(name), preconditions),
    says,
  });

/** A token that makes up who owns a pod, to change or delete it. */
const takeovers = (namespace: string, pods: FixturePods): Attempt[] => {
  const path = (name: string, sub?: string): string => podPath(namespace, name, sub);
  const adopt = patchOf(
    path,
    either(/may not be adopted so: it must have no controller, and be as a DaemonSet left it/),
  );
  const change = patchOf(path, either(/of one that does, it never changes owners, finalizers or other metadata/));
  const report = patchOf(path, /may change conditions and nothing else/);
  const remove = removeOf(path, either(/it does not belong to a DaemonSet, and nothing would bring it back/));
  const image = { spec: { containers: [{ name: 'app', image: 'other:v1' }] } };
  const { native, ofAdvanced, bare, left, ofDeployment, unserved } = pods;
  return [
    adopt('take the pod of a Deployment, with its image', ofDeployment.name, { ...owned(OF_ADVANCED), ...image }),
    adopt('take the pod of a Deployment, as it is', ofDeployment.name, owned(OF_ADVANCED)),
    adopt('take the pod of a native DaemonSet', native.name, owned(OF_ADVANCED)),
    adopt('adopt a bare pod', bare.name, owned(OF_ADVANCED)),
    adopt('adopt a pod with another image', left.name, { ...owned(OF_ADVANCED), ...image }),
    adopt('adopt a pod with another label', left.name, owned(OF_ADVANCED, { labels: { a: 'b' } })),
    adopt('adopt a pod with a finalizer', left.name, owned(OF_ADVANCED, { finalizers: ['a.io/b'] })),
    change('adopt for a version that is not served', left.name, owned(controlledBy('apps.kruise.io/v9', 'x', 'x'))),
    change('adopt for a native DaemonSet', left.name, owned(controlledBy('apps/v1', 'app', 'x'))),
    change('give a pod to another Advanced DaemonSet', ofAdvanced.name, owned(OF_ADVANCED)),
    change('change a pod of a version that is not served', unserved.name, image),
    change('hold the pod of an Advanced DaemonSet', ofAdvanced.name, { metadata: { finalizers: ['a.io/b'] } }),
    change('make a pod look like a pull pod', bare.name, { metadata: { labels: { 'edgeset.io/prefetch': '' } } }),
    change('make a pod look like one of a hook', bare.name, {
      metadata: { labels: { 'lifecycle.apps.kruise.io/state': 'Normal' } },
    }),
    change('add an empty annotation', bare.name, { metadata: { annotations: { 'edgeset.io/x': '' } } }),
    report('label a pod with its status', ofDeployment.name, { metadata: { labels: { app: 'db' } } }, '/status'),
    report('hold a pod with its status', bare.name, { metadata: { finalizers: ['a.io/b'] } }, '/status'),
    remove('delete the pod of a Deployment', ofDeployment),
    remove('delete a pod that a DaemonSet left behind', left),
    remove('delete a pod of a version that is not served', unserved),
  ];
};

/** Revisions, by which `kubectl rollout undo` of others, and StatefulSets with a partition, make pods. */
const revisionsOfOthers = (namespace: string, revisions: FixtureRevisions): Attempt[] => {
  const says = either(/ControllerRevision .* may not be written so/);
  const path = (name: string): string => revisionPath(namespace, name);
  const create = (what: string, ...of: Parameters<typeof revisionOf>): Attempt => ({
    what: `create a revision ${what}`,
    call: { method: 'POST', path: `${revisionPath(namespace)}?dryRun=All`, body: revisionOf(...of) },
    says,
  });
  const patch = patchOf(path, says);
  const remove = removeOf(path, /it does not belong to an Advanced DaemonSet, and nothing|no Advanced DaemonSets are/);
  return [
    create('of nobody', []),
    create('of a native DaemonSet', controlledBy('apps/v1', 'app', 'x')),
    create('of a version that is not served', controlledBy('apps.kruise.io/v9', 'x', 'x')),
    create('with a finalizer', OF_ADVANCED, { finalizers: ['a.io/b'] }),
    patch('renumber a revision of a native DaemonSet', revisions.native.name, { revision: 99 }),
    patch('take a revision of a native DaemonSet', revisions.native.name, owned(OF_ADVANCED)),
    patch('give a revision to another Advanced DaemonSet', revisions.ofAdvanced.name, owned(OF_ADVANCED)),
    patch('adopt a revision with an annotation', revisions.left.name, owned(OF_ADVANCED, { annotations: { a: 'b' } })),
    patch('adopt a revision with another label', revisions.left.name, owned(OF_ADVANCED, { labels: { app: 'b' } })),
    remove('delete a revision of a native DaemonSet', revisions.native),
    remove('delete a revision that a DaemonSet left behind', revisions.left),
    removeOf(path, either(/must carry the object's uid/))('delete a revision unseen', revisions.ofAdvanced, {}),
  ];
};

const templates = (namespace: string): Attempt[] => {
  const path = (name: string): string => daemonSetPath(namespace, name);
  const says = /gives DaemonSet .* more rights on its nodes than the one that failed/;
  const gain = (what: string, spec: object, container: object = {}): Attempt => {
    const template = { spec: { containers: [{ name: 'app', image: 'app:v0', ...container }], ...spec } };
    const metadata = { annotations: { 'edgeset.io/rolled-back-from': 'b' } };
    return patchOf(path, says)(`restore a template with ${what}`, 'back', { metadata, spec: { template } });
  };
  const template = { spec: { containers: [{ name: 'app', image: 'app:v0' }] } };
  const change = patchOf(path, /changes its own annotation edgeset\.io\/rolled-back-from, and its own finalizer/);
  return [
    patchOf(path, /and says so in edgeset\.io\/rolled-back-from/)('restore a template in silence', 'back', {
      spec: { template },
    }),
    gain("the host's network", { hostNetwork: true }),
    gain("the host's processes", { hostPID: true }),
    gain("the host's IPC", { hostIPC: true }),
    gain('another account', { serviceAccountName: 'admin' }),
    gain('a path of the host', { volumes: [{ name: 'v', hostPath: { path: '/' } }] }),
    gain('a privileged container', {}, { securityContext: { privileged: true } }),
    gain('a capability', {}, { securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }),
    gain('a privileged init container', {
      initContainers: [{ name: 'i', image: 'i', securityContext: { privileged: true } }],
    }),
    change('take the labels of a DaemonSet', 'back', { metadata: { labels: null } }),
    change('take the finalizers of a DaemonSet', 'back', { metadata: { finalizers: null } }),
    change('set an empty annotation', 'back', { metadata: { annotations: { 'edgeset.io/paused': '' } } }),
    patchOf(
      (name) => advancedPath(namespace, name),
      /and its own finalizer of Adv|no Advanced DaemonSets are/,
      'merge-patch',
    )('take a finalizer of others from an Advanced DaemonSet', 'advanced', {
      metadata: { finalizers: ['edgeset.io/pre-delete'] },
    }),
  ];
};

const eventsThatStay = (namespace: string): Attempt[] => {
  const tell = (what: string, metadata: object): Attempt => ({
    what: `an Event with ${what}`,
    call: { method: 'POST', path: `${eventsPath(namespace)}?dryRun=All`, body: eventOf(namespace, metadata) },
    says: /an Event has no finalizers and no ownerReferences/,
  });
  return [tell('a finalizer', { finalizers: ['a.io/b'] }), tell('an owner', { ownerReferences: OF_ADVANCED })];
};

/** Namespaces in which the manager changes nothing: what is accepted elsewhere, and what is not. */
const excluded = (namespace: string, pods: FixturePods): Attempt => ({
  what: `pull images in ${namespace}`,
  call: { method: 'POST', path: `${podPath(namespace)}?dryRun=All`, body: pullPod(namespace, pods.native) },
  says: new RegExp(
    `namespace ${namespace} is excluded: .*admissionPolicies\\.excludedNamespaces, or from the Validating`,
  ),
});

/** What the policy refuses a manager, whatever its role allows. */
export const attempts = (namespace: string, pods: FixturePods, revisions: FixtureRevisions): Attempt[] => [
  ...creations(namespace, pods),
  ...changes(namespace, pods),
  ...takeovers(namespace, pods),
  ...revisionsOfOthers(namespace, revisions),
  ...templates(namespace),
  ...eventsThatStay(namespace),
  ...['kube-system', 'edgeset-system'].map((name) => excluded(name, pods)),
];

/** What it accepts where Advanced DaemonSets are served, and refuses elsewhere. */
export const advancedWork = (
  namespace: string,
  owner: object[],
  pods: FixturePods,
  revisions: FixtureRevisions,
): Attempt[] => {
  const patch = patchOf((name, sub) => podPath(namespace, name, sub), NONE_SERVED);
  const record = patchOf((name) => revisionPath(namespace, name), NONE_SERVED);
  const set = patchOf((name, sub) => advancedPath(namespace, name, sub), NONE_SERVED, 'merge-patch');
  const create = (what: string, path: string, body: object): Attempt => ({
    what,
    call: { method: 'POST', path: `${path}?dryRun=All`, body },
    says: NONE_SERVED,
  });
  const labels = { 'controller-revision-hash': 'x' };
  return [
    create('create a pod of an Advanced DaemonSet', podPath(namespace), bodyOf(owner)),
    create('create a revision', revisionPath(namespace), revisionOf(owner)),
    create('try a template', `/api/v1/namespaces/${namespace}/podtemplates`, {
      metadata: { generateName: 'x-' },
      template: { spec: { containers: [{ name: 'app', image: 'app:v1' }] } },
    }),
    patch('update in place', pods.ofAdvanced.name, {
      metadata: { labels, annotations: { a: 'b' } },
      spec: { containers: [{ name: 'app', image: 'app:v2' }] },
    }),
    patch('release a pod', pods.ofAdvanced.name, owned([])),
    patch('adopt a pod', pods.left.name, { metadata: { ownerReferences: owner } }),
    record('renumber a revision', revisions.ofAdvanced.name, { revision: 9 }),
    record('adopt a revision', revisions.left.name, { metadata: { labels, ownerReferences: owner }, revision: 9 }),
    set('hold a DaemonSet for its hook', 'advanced', {
      metadata: { finalizers: ['a.io/stays', 'edgeset.io/pre-delete'] },
    }),
    set('count pods', 'advanced', { status: { numberReady: 1 } }, '/status'),
    removeOf((name) => podPath(namespace, name), NONE_SERVED)('replace a pod', pods.ofAdvanced),
    removeOf((name) => revisionPath(namespace, name), NONE_SERVED)('clean up a revision', revisions.ofAdvanced),
  ];
};
