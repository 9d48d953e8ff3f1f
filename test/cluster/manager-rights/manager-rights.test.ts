import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { advancedDaemonSetCrd } from '../../../src/advanced/index.ts';
import { eventually } from '../../support/index.ts';
import { type Caller, createCaller, tryAll } from '../agent-rights/caller.ts';
import { kubectl, kubectlApply, mintToken, type RealCluster, startCluster } from '../index.ts';
import { attempts, bodyOf, controlledBy, daemonSetPath, type FixturePods, podPath, pullPod } from './attempts.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const MANAGER = 'system:serviceaccount:edgeset-system:edgeset-manager';

let cluster: RealCluster;
let namespace: string;
let pods: FixturePods;

const run = (...args: string[]): Promise<string> => kubectl(cluster.kubeconfig, args);
const apply = (...files: string[]): Promise<string> =>
  run('apply', ...files.flatMap((file) => ['-f', join(root, 'deploy', file)]));
const mayCreatePods = async (): Promise<boolean> =>
  run('auth', 'can-i', 'create', 'pods', '-A', `--as=${MANAGER}`).then(
    (answer) => answer.trim() === 'yes',
    () => false,
  );
/** A role that lets a manager do everything: what is refused then, the policy refuses. */
const bindEverything = (within: string): Promise<string> =>
  kubectlApply(cluster.kubeconfig, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `careless-${within}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'edgeset-manager', namespace: within }],
  });
const managerOf = async (t: TestContext, within = 'edgeset-system'): Promise<Caller> => {
  const token = await mintToken(cluster.plane.api, within, 'edgeset-manager');
  const caller = createCaller(cluster.plane.access, { token });
  t.after(() => caller.close());
  return caller;
};

before(async () => {
  cluster = await startCluster();
  await cluster.addNodes(['node-1']);
  namespace = await cluster.createNamespace('rights');
  const { api } = cluster.plane;
  const daemonSet = (name: string, annotations: object): object => ({
    metadata: { name, annotations: { 'apps.openyurt.io/update-strategy': 'auto', ...annotations } },
    spec: {
      selector: { matchLabels: { app: name } },
      updateStrategy: { type: 'OnDelete' },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'app', image: 'app:v1' }] },
      },
    },
  });
  const sets = `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
  await api.post(sets, daemonSet('app', {}));
  await api.post(sets, daemonSet('back', { 'edgeset.io/on-failure': ' Rollback' }));
  const bare = (name: string, ownerReferences: object[] = []): Promise<unknown> =>
    api.post(podPath(namespace), {
      metadata: { name, ownerReferences },
      spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:v1' }] },
    });
  await bare('bare');
  await kubectlApply(cluster.kubeconfig, advancedDaemonSetCrd);
  const advanced = await eventually(
    'the Advanced DaemonSet is created',
    () =>
      api
        .post<{ metadata: { uid: string } }>(`/apis/apps.kruise.io/v1beta1/namespaces/${namespace}/daemonsets`, {
          apiVersion: 'apps.kruise.io/v1beta1',
          kind: 'DaemonSet',
          ...daemonSet('advanced', {}),
        })
        .catch(() => undefined),
    { everyMs: 100 },
  );
  await bare('advanced', controlledBy('apps.kruise.io/v1beta1', 'advanced', advanced.metadata.uid));
  interface Listed {
    metadata: { name: string; uid: string; labels?: { app?: string } };
  }
  pods = await eventually(
    'the pods are there',
    async () => {
      const { items } = await api.get<{ items: Listed[] }>(podPath(namespace));
      const find = (wanted: (pod: Listed) => boolean) => items.find(wanted)?.metadata;
      const native = find(({ metadata }) => metadata.labels?.app === 'app');
      const ofAdvanced = find(({ metadata }) => metadata.name === 'advanced');
      const other = find(({ metadata }) => metadata.name === 'bare');
      return native && ofAdvanced && other && { native, ofAdvanced, bare: other };
    },
    { everyMs: 100 },
  );
  await apply('crds', 'namespace.yaml', 'policy.yaml', 'rbac.yaml');
});
after(() => cluster.stop());

test('an installation for native DaemonSets gets no right to create pods', async () => {
  assert.equal(await mayCreatePods(), false);
  await apply('predownload/rbac.yaml', 'advanced/rbac.yaml');
  await eventually('with the other roles it has', mayCreatePods, { everyMs: 100 });
});

test('a manager with a role too many is refused what is not its own', async (t) => {
  await bindEverything('edgeset-system');
  const caller = await managerOf(t);
  const path = podPath(namespace);
  await eventually(
    'the role is known, and the policy is in force',
    async () => /the manager creates/.test((await caller.call({ method: 'POST', path, body: bodyOf() })).message),
    { everyMs: 100 },
  );
  await tryAll(t, caller, attempts(namespace, pods));
});

test('a manager installed into another namespace is restricted, too', async (t) => {
  const elsewhere = await cluster.createNamespace('elsewhere');
  await cluster.plane.api.post(`/api/v1/namespaces/${elsewhere}/serviceaccounts`, {
    metadata: { name: 'edgeset-manager' },
  });
  await bindEverything(elsewhere);
  const caller = await managerOf(t, elsewhere);
  const create = { method: 'POST', path: podPath(namespace), body: bodyOf() } as const;
  await eventually(
    'the role is known',
    async () => /a pod that the manager creates has the label/.test((await caller.call(create)).message),
    { everyMs: 100 },
  );
});

test('with the shipped rights, the manager does its work', async (t) => {
  await run('delete', 'clusterrolebinding', 'careless-edgeset-system');
  const caller = await managerOf(t);
  const { native, ofAdvanced } = pods;
  const accepted = async (what: string, call: Parameters<Caller['call']>[0]): Promise<void> => {
    const { status, message } = await caller.call(call);
    t.diagnostic(`${what.padEnd(52)} ${status}`);
    assert.ok(status === 200 || status === 201, `${what}: ${status} ${message}`);
  };
  const patch = (path: string, body: object) => ({ method: 'PATCH', path, body }) as const;
  const post = (path: string, body: unknown) => ({ method: 'POST', path, body }) as const;
  const conditions = [
    { type: 'PodNeedUpgrade', status: 'True', reason: 'NewRevision', message: 'controllerrevision: b' },
  ];
  const windows = { ...pullPod(namespace, native, { os: { name: 'windows' } }) };
  const create = podPath(namespace);
  await accepted('pull images', post(create, pullPod(namespace, native, { hostNetwork: true })));
  await accepted('pull images on Windows', {
    ...post(`${create}?dryRun=All`, {
      ...windows,
      metadata: { ...windows.metadata, name: `${windows.metadata?.name}-x1` },
    }),
  });
  const owner = controlledBy('apps.kruise.io/v1beta1', 'advanced', ofAdvanced.uid);
  await accepted('create a pod of an Advanced DaemonSet', post(`${create}?dryRun=All`, bodyOf(owner)));
  const fence = { metadata: { uid: native.uid, annotations: { 'edgeset.io/fence': 'm/1' } } };
  await accepted('fence a native pod', patch(podPath(namespace, native.name), fence));
  await accepted('announce', patch(podPath(namespace, native.name, '/status'), { status: { conditions } }));
  const image = { spec: { containers: [{ name: 'app', image: 'app:v2' }] } };
  await accepted('update in place', patch(podPath(namespace, ofAdvanced.name), image));
  await accepted('release a pod', {
    ...patch(podPath(namespace, ofAdvanced.name, '?dryRun=All'), { metadata: { ownerReferences: [] } }),
    patch: 'merge-patch',
  });
  const template = { spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v0' }] } } } };
  const back = { metadata: { annotations: { 'edgeset.io/rolled-back-from': 'b' } }, ...template };
  await accepted('roll back a native DaemonSet', patch(daemonSetPath(namespace, 'back'), back));
  await accepted('try a template', {
    ...post(`/api/v1/namespaces/${namespace}/podtemplates?dryRun=All`, {
      metadata: { generateName: 'x-' },
      template: { spec: { containers: [{ name: 'app', image: 'app:v1' }] } },
    }),
  });
  const gone = { preconditions: { uid: native.uid } };
  await accepted('replace a native pod', { method: 'DELETE', path: podPath(namespace, native.name), body: gone });
});

test('nobody else creates a pull pod, or makes a pod look like one', async () => {
  await run('create', 'rolebinding', 'tenant', '--clusterrole=edit', '--user=tenant', `--namespace=${namespace}`);
  const tenant = ['--as=tenant', `--namespace=${namespace}`];
  const refusal = /pods with the label edgeset\.io\/prefetch are the manager's/;
  await run('run', 'plain', '--image=app:v1', ...tenant);
  await assert.rejects(run('run', 'forged', '--image=app:v1', '--labels=edgeset.io/prefetch=x', ...tenant), refusal);
  await assert.rejects(run('label', 'pod', 'plain', 'edgeset.io/prefetch=x', ...tenant), refusal);
  const pull = pullPod(namespace, pods.ofAdvanced);
  await kubectlApply(cluster.kubeconfig, { apiVersion: 'v1', kind: 'Pod', ...pull });
  const name = `pod/${pull.metadata?.name}`;
  const finalizer = '{"metadata":{"finalizers":["example.org/stays"]}}';
  await assert.rejects(run('patch', name, '--type=merge', '-p', finalizer, ...tenant), refusal);
});
