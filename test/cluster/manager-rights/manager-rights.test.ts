import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { advancedDaemonSetCrd } from '../../../src/kinds/advanced/index.ts';
import { eventually } from '../../support/index.ts';
import { type Call, type Caller, createCaller, tryAll } from '../agent-rights/caller.ts';
import { kubectl, kubectlApply, mintToken, type RealCluster, startCluster } from '../index.ts';
import {
  advancedPath,
  advancedWork,
  attempts,
  bodyOf,
  controlledBy,
  daemonSetPath,
  deletionOf,
  eventOf,
  eventsPath,
  type FixturePods,
  type FixtureRevisions,
  podPath,
  pullPod,
  revisionOf,
  revisionPath,
} from './attempts.ts';
import { installations } from './installations.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const MANAGER = 'system:serviceaccount:edgeset-system:edgeset-manager';

let cluster: RealCluster;
let namespace: string;
let pods: FixturePods;
let revisions: FixtureRevisions;
/** The owner reference of the Advanced DaemonSet. */
let owner: object[];

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
  const template = (app: string): object => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'app', image: 'app:v1' }] },
  });
  const daemonSet = (name: string, annotations: object, metadata: object = {}): object => ({
    metadata: { name, annotations: { 'apps.openyurt.io/update-strategy': 'auto', ...annotations }, ...metadata },
    spec: {
      selector: { matchLabels: { app: name } },
      updateStrategy: { type: 'OnDelete' },
      template: template(name),
    },
  });
  const sets = daemonSetPath(namespace, '');
  await api.post(sets, daemonSet('app', {}));
  const held = { labels: { a: 'b' }, finalizers: ['a.io/stays'] };
  await api.post(sets, daemonSet('back', { 'edgeset.io/on-failure': ' Rollback' }, held));
  await api.post(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
    metadata: { name: 'deployed' },
    spec: { selector: { matchLabels: { app: 'deployed' } }, template: template('deployed') },
  });
  type Identity = FixturePods['native'];
  const identityOf = ({ metadata: { name, uid } }: { metadata: Identity }): Identity => ({ name, uid });
  const pod = async (name: string, ownerReferences: object[] = [], spec: object = {}): Promise<Identity> =>
    identityOf(
      await api.post(podPath(namespace), {
        metadata: { name, labels: { 'controller-revision-hash': 'x' }, ownerReferences },
        spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:v1' }], ...spec },
      }),
    );
  await kubectlApply(cluster.kubeconfig, advancedDaemonSetCrd);
  const advanced = await eventually(
    'the Advanced DaemonSet is created',
    () =>
      api
        .post<{ metadata: Identity }>(advancedPath(namespace, ''), {
          apiVersion: 'apps.kruise.io/v1beta1',
          kind: 'DaemonSet',
          ...daemonSet('advanced', {}, held),
        })
        .catch(() => undefined),
    { everyMs: 100 },
  );
  owner = controlledBy('apps.kruise.io/v1beta1', 'advanced', advanced.metadata.uid);
  const revision = async (name: string, of: object[]): Promise<Identity> =>
    identityOf(await api.post(revisionPath(namespace), revisionOf(of, { name, labels: undefined })));
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } };
  const made = {
    ofAdvanced: await pod('advanced', owner),
    bare: await pod('bare'),
    left: await pod('left', [], { affinity: { nodeAffinity: required } }),
    unserved: await pod('unserved', controlledBy('apps.kruise.io/v9', 'nothing', 'n-o-n-e')),
  };
  const first = (path: string, app: string, query = ''): Promise<Identity> =>
    eventually(
      `something of ${app} is there`,
      async () => {
        const { items } = await api.get<{ items: { metadata: Identity }[] }>(
          `${path}?labelSelector=app%3D${app}${query}`,
        );
        return items[0] && identityOf(items[0]);
      },
      { everyMs: 100 },
    );
  const running = '&fieldSelector=status.phase%3DRunning';
  pods = {
    ...made,
    native: await first(podPath(namespace), 'app', running),
    ofDeployment: await first(podPath(namespace), 'deployed', running),
  };
  revisions = {
    native: await first(revisionPath(namespace), 'app'),
    ofAdvanced: await revision('advanced', owner),
    left: await revision('left', []),
  };
  await apply('crds', 'namespace.yaml', 'policy.yaml', 'rbac.yaml');
});
after(() => cluster.stop());

test('an installation for native DaemonSets gets no right to create pods', async () => {
  assert.equal(await mayCreatePods(), false);
  await apply('predownload/rbac.yaml', 'advanced/rbac.yaml');
  await eventually('with the other roles it has', mayCreatePods, { everyMs: 100 });
});

const accepted = async (t: TestContext, caller: Caller, what: string, call: Call): Promise<void> => {
  const { status, message } = await caller.call(call);
  t.diagnostic(`${what.padEnd(52)} ${status}`);
  assert.ok(status === 200 || status === 201, `${what}: ${status} ${message}`);
};

/** What a manager does for native DaemonSets, as dry runs. */
const work = (): [string, Call][] => {
  const { native } = pods;
  const patch = (path: string, body: object): Call => ({ method: 'PATCH', path: `${path}?dryRun=All`, body });
  const post = (path: string, body: object): Call => ({ method: 'POST', path: `${path}?dryRun=All`, body });
  const conditions = [
    { type: 'PodNeedUpgrade', status: 'True', reason: 'NewRevision', message: 'controllerrevision: b' },
  ];
  const template = (spec: object): object => ({
    metadata: { annotations: { 'edgeset.io/rolled-back-from': 'b' } },
    spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v0' }], ...spec } } },
  });
  const secret = { volumes: [{ name: 'v', secret: { secretName: 'earlier' } }] };
  return [
    ['pull images', post(podPath(namespace), pullPod(namespace, native, { hostNetwork: true }))],
    ['pull images on Windows', post(podPath(namespace), pullPod(namespace, native, { os: { name: 'windows' } }))],
    [
      'fence a native pod',
      patch(podPath(namespace, native.name), {
        metadata: { uid: native.uid, annotations: { 'edgeset.io/fence': 'm/1' } },
      }),
    ],
    ['announce', patch(podPath(namespace, native.name, '/status'), { status: { conditions } })],
    ['say how a DaemonSet is', patch(daemonSetPath(namespace, 'app', '/status'), { status: { conditions } })],
    ['roll back a native DaemonSet', patch(daemonSetPath(namespace, 'back'), template({}))],
    ['roll back to another Secret', patch(daemonSetPath(namespace, 'back'), template(secret))],
    ['write an Event', post(eventsPath(namespace), eventOf(namespace))],
    ['replace a native pod', deletionOf(podPath(namespace, native.name), { uid: native.uid })],
  ];
};

/** Each in the place of the one before: none of it may be in force by accident. */
const install = async (manifests: string, caller: Caller): Promise<void> => {
  const policies = ['edgeset-manager', 'edgeset-manager-namespaces'];
  await run('delete', 'validatingadmissionpolicies', '--ignore-not-found', ...policies);
  const path = `${podPath(namespace)}?dryRun=All`;
  const isRefused = async (body: object, says: RegExp): Promise<boolean> =>
    says.test((await caller.call({ method: 'POST', path, body })).message);
  await eventually('no policy is in force', async () => !(await isRefused(bodyOf(), /is forbidden/)), { everyMs: 100 });
  await kubectl(cluster.kubeconfig, ['apply', '-f', '-'], manifests);
  await eventually(
    'the policy is in force',
    async () =>
      (await isRefused(bodyOf(), /the manager creates/)) &&
      (
        await caller.call({ method: 'POST', path: `${podPath('kube-system')}?dryRun=All`, body: bodyOf() })
      ).message.includes('is forbidden'),
    { everyMs: 100 },
  );
};

for (const { what, advanced, manifests } of installations)
  describe(what, () => {
    test('a manager with a role too many is refused what is not its own', async (t) => {
      await bindEverything('edgeset-system');
      const caller = await managerOf(t);
      await install(await manifests(), caller);
      const ofAdvanced = advancedWork(namespace, owner, pods, revisions);
      const list = [...attempts(namespace, pods, revisions), ...(advanced ? [] : ofAdvanced)];
      await tryAll(t, caller, list);
    });

    test('with the shipped rights, the manager does its work', async (t) => {
      await run('delete', 'clusterrolebinding', 'careless-edgeset-system');
      const caller = await managerOf(t);
      await eventually(
        'the role too many is gone',
        async () =>
          !(await run('auth', 'can-i', 'create', 'secrets', `--as=${MANAGER}`).catch(() => 'no')).includes('yes'),
        { everyMs: 100 },
      );
      for (const [name, call] of work()) await accepted(t, caller, name, call);
      if (!advanced) return;
      for (const { what: name, call } of advancedWork(namespace, owner, pods, revisions))
        await accepted(t, caller, name, call);
    });
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
