import type { Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { pullPodOf } from '../../../src/prefetch/index.ts';
import type { Attempt, Call } from '../agent-rights/caller.ts';

/** Pods of the fixture, which all run on node-1. */
export interface FixturePods {
  /** Of a native DaemonSet. */
  native: { name: string; uid: string };
  ofAdvanced: { name: string; uid: string };
  bare: { name: string; uid: string };
}

export const podPath = (namespace: string, name = '', sub = ''): string =>
  `/api/v1/namespaces/${namespace}/pods${name && `/${name}`}${sub}`;

export const daemonSetPath = (namespace: string, name: string, sub = ''): string =>
  `/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}${sub}`;

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
  return [
    create('a pod', bodyOf(), pod),
    create('a pod of a native DaemonSet', bodyOf(controlledBy('apps/v1', 'app', 'x')), pod),
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
    call('delete without a uid', remove(pods.native.name), /must carry the pod's uid as a precondition/),
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

/** What the policy refuses a manager, whatever its role allows. */
export const attempts = (namespace: string, pods: FixturePods): Attempt[] => [
  ...creations(namespace, pods),
  ...changes(namespace, pods),
];
