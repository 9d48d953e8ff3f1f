import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type DaemonRolloutStatus, daemonRolloutCrd, planCrds } from '../../src/words/index.ts';
import { decision, describePlans, rolloutApprovals } from '../conformance/plans/index.ts';
import { eventually } from '../support/index.ts';
import { kubectl, kubectlApply, mintToken, type RealCluster, startCluster } from './index.ts';

const deploy = join(import.meta.dirname, '..', '..', 'deploy');
const MANAGER = 'system:serviceaccount:edgeset-system:edgeset-manager';
const within = { everyMs: 50 };

let cluster: RealCluster;

const run = (...args: string[]): Promise<string> => kubectl(cluster.kubeconfig, [...args, '--namespace=default']);
const can = async (user: string, ...what: string[]): Promise<boolean> =>
  run('auth', 'can-i', ...what, `--as=${user}`).then(
    () => true,
    () => false,
  );
/** What RBAC lets a user do with the objects of a group. */
const verbsOf = async (user: string, group = 'edgeset.io'): Promise<Record<string, string[]>> => {
  const list = await run('auth', 'can-i', '--list', `--as=${user}`);
  const verbs = new Map<string, string[]>();
  for (const [, plural = '', of, found = ''] of list.matchAll(/^(\w+)\.(\S+) .*\[([^[]*)\]$/gm))
    if (of === group) verbs.set(plural, [...new Set([...(verbs.get(plural) ?? []), ...found.split(' ')])].toSorted());
  return Object.fromEntries(verbs);
};

const approval = (name: string, spec: object = {}) =>
  JSON.stringify({
    apiVersion: 'edgeset.io/v1alpha1',
    kind: 'RolloutApproval',
    metadata: { name, namespace: 'default' },
    spec: { ...decision, ...spec },
  });
const createAs = (user: string, name: string, spec?: object): Promise<string> =>
  kubectl(cluster.kubeconfig, ['create', `--as=${user}`, '-f', '-'], approval(name, spec));
const editAs = (args: readonly string[], name: string, body: object): Promise<string> =>
  run('patch', 'rolloutapproval', name, '--type=merge', '-p', JSON.stringify(body), ...args);

const daemonSet = (name: string, annotations: Record<string, string>): object => ({
  metadata: { name, annotations: { ...annotations, 'edgeset.io/update-strategy': 'auto' } },
  spec: {
    selector: { matchLabels: { app: name } },
    updateStrategy: { type: 'OnDelete' },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name, image: 'web:v1' }] } },
  },
});

/** A DaemonSet whose rollout awaits the approval of its stage canary. */
const createStagedRollout = async (): Promise<void> => {
  const { api } = cluster.plane;
  const path = '/apis/edgeset.io/v1alpha1/namespaces/default/';
  await api.post(`${path}rolloutplans`, {
    apiVersion: 'edgeset.io/v1alpha1',
    kind: 'RolloutPlan',
    metadata: { name: 'rings' },
    spec: { stages: [{ name: 'canary', promote: { approval: { required: true } } }] },
  });
  const { metadata: made } = await api.post<{ metadata: { uid: string } }>(
    '/apis/apps/v1/namespaces/default/daemonsets',
    daemonSet('web', { 'edgeset.io/rollout-plan': 'rings' }),
  );
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'web', uid: made.uid, controller: true }];
  const rollout = {
    apiVersion: 'edgeset.io/v1alpha1',
    kind: 'DaemonRollout',
    metadata: { name: 'web', ownerReferences },
  };
  await api.post(`${path}daemonrollouts`, rollout);
  const status: DaemonRolloutStatus = {
    daemonSetGeneration: 1,
    target: { revision: 'web-6d8c', hash: '6d8c', number: 1 },
    plan: 'rings',
    stages: [
      {
        name: 'canary',
        state: 'Open',
        nodes: { total: 1, online: 1, updated: 1 },
        awaits: { reason: 'Approval', message: 'waits for an approval' },
      },
      { name: 'rest', state: 'Closed', nodes: { total: 0, online: 0, updated: 0 } },
    ],
  };
  await api.patch(`${path}daemonrollouts/web/status`, { status }, 'merge-patch');
};

/** What a careless administrator may bind. */
const mighty = ['--as=ada', '--as-group=system:masters'];

describe('rollout plans and approvals, on a real API server', { timeout: 300_000 }, () => {
  before(async () => {
    cluster = await startCluster();
    for (const crd of [daemonRolloutCrd, ...planCrds]) await kubectlApply(cluster.kubeconfig, crd);
    const isServed = (): Promise<boolean> =>
      cluster.client.list(rolloutApprovals, {}).then(
        () => true,
        () => false,
      );
    await eventually('the definitions are served', isServed, within);
  });
  after(() => cluster.stop());

  describePlans(() => ({ client: cluster.client, namespace: 'default' }));

  it('prints who decided what', async () => {
    await cluster.client.create(rolloutApprovals, {
      metadata: { name: 'printed', namespace: 'default' },
      spec: decision,
    });
    const [head, row] = (await run('get', 'rap', 'printed')).split('\n').map((line) => line.split(/ {2,}/));
    assert.deepEqual(head, ['NAME', 'DAEMONSET', 'REVISION', 'STAGE', 'DECISION', 'BY', 'AGE']);
    assert.deepEqual(row?.slice(0, 6), ['printed', 'web', '6d8c9f7b5', 'canary', 'Approve', 'ada']);
    await run('delete', 'rap', 'printed');
    const plan = { stages: [{ name: 'lab' }, { name: 'shops' }] };
    const object = {
      apiVersion: 'edgeset.io/v1alpha1',
      kind: 'ClusterRolloutPlan',
      metadata: { name: 'rings' },
      spec: plan,
    };
    await kubectlApply(cluster.kubeconfig, object);
    const [, printed] = (await run('get', 'crpl')).split('\n').map((line) => line.split(/ {2,}/));
    assert.deepEqual(printed?.slice(0, 3), ['rings', 'lab', 'shops']);
  });

  describe('with the policy and the roles that ship', () => {
    before(async () => {
      await run('create', 'namespace', 'edgeset-system');
      for (const file of ['approval-policy.yaml', 'user-roles.yaml', 'rbac.yaml'])
        await kubectl(cluster.kubeconfig, ['apply', '-f', join(deploy, file)]);
      for (const [role, users] of Object.entries({ 'edgeset-approver': ['ada', 'bob'], view: ['vera'], edit: ['ed'] }))
        await run('create', 'rolebinding', role, `--clusterrole=${role}`, ...users.map((user) => `--user=${user}`));
      const isInForce = (): Promise<boolean> =>
        createAs('admin', 'probe', { approvedBy: 'x' }).then(
          () => run('delete', 'rap', 'probe').then(() => false),
          (error: Error) => error.message.includes('edgeset-approvals'),
        );
      await run('create', 'clusterrolebinding', 'admin', '--clusterrole=cluster-admin', '--user=admin');
      await eventually('the policy is in force', isInForce, within);
    });

    it('an approver decides in their own name', async () => {
      assert.match(await createAs('ada', 'own'), /rolloutapproval\.edgeset\.io\/own created/);
      assert.match(await createAs('bob', 'promoted', { approvedBy: 'bob', decision: 'Promote' }), /promoted created/);
    });

    for (const [who, user] of [
      ['an approver', 'bob'],
      ['an administrator', 'admin'],
    ] as const)
      it(`${who} is refused the name of another user, and told what to do`, () =>
        assert.rejects(
          createAs(user, 'forged'),
          new RegExp(`spec\\.approvedBy is "ada", and you are "${user}": set it to your own name`),
        ));

    it('nobody changes a decision that was made, and everybody may label it', async () => {
      await createAs('ada', 'made');
      for (const change of [{ approvedBy: 'bob' }, { stage: 'shops' }, { comment: 'Later.' }])
        await assert.rejects(
          editAs(mighty, 'made', { spec: change }),
          /delete the RolloutApproval and create another one/,
        );
      await assert.rejects(
        editAs(['--as=ada'], 'made', { spec: { stage: 'shops' } }),
        /forbidden: User "ada" cannot patch/,
      );
      await editAs(['--as=admin'], 'made', { metadata: { labels: { a: 'b' } } });
    });

    it('keeps decisions where a schema lets them change', async () => {
      await createAs('ada', 'kept');
      const crd = planCrds.find(({ spec }) => spec.names.kind === 'RolloutApproval');
      const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations';
      const patch = JSON.stringify([{ op: 'remove', path }]);
      await run('patch', 'crd', crd?.metadata.name ?? '', '--type=json', '-p', patch);
      const says = /ValidatingAdmissionPolicy 'edgeset-approvals'.*spec of a RolloutApproval can not be changed/;
      const isLeftToThePolicy = (): Promise<boolean> =>
        editAs(mighty, 'kept', { spec: { stage: 'shops' } }).then(
          () => assert.fail('the decision was changed'),
          (error: Error) => says.test(error.message) && !error.message.includes('is invalid'),
        );
      await eventually('the policy alone refuses the change', isLeftToThePolicy, within);
    });

    it('roles let people do what they are for, and nothing more', async () => {
      const read = ['get', 'list', 'watch'];
      const plans = { daemonrollouts: read, rolloutplans: read, clusterrolloutplans: read };
      const all = { ...plans, rolloutapprovals: read };
      const hasRead = (user: string) => async (): Promise<boolean> => 'rolloutplans' in (await verbsOf(user));
      for (const user of ['vera', 'ed']) await eventually(`the roles of ${user} have ours`, hasRead(user), within);
      assert.deepEqual(await verbsOf('vera'), all);
      const write = ['create', 'delete', 'deletecollection', ...read, 'patch', 'update'].toSorted();
      const written = async (): Promise<boolean> => (await verbsOf('ed')).rolloutplans?.length === write.length;
      await eventually('ed may write plans', written, within);
      assert.deepEqual(await verbsOf('ed'), { ...all, rolloutplans: write });
      assert.deepEqual(await verbsOf('ada'), { ...plans, rolloutapprovals: ['create', ...read] });
      await assert.rejects(createAs('vera', 'viewed', { approvedBy: 'vera' }), /User "vera" cannot create resource/);
      await assert.rejects(createAs('ed', 'edited', { approvedBy: 'ed' }), /User "ed" cannot create resource/);
    });

    it('the role of an approver suffices for kubectl edgeset approve and promote', async () => {
      const { kubeconfig, plane } = cluster;
      await createStagedRollout();
      await run('create', 'serviceaccount', 'release');
      await run(
        'create',
        'rolebinding',
        'release',
        '--clusterrole=edgeset-approver',
        '--serviceaccount=default:release',
      );
      const user = 'system:serviceaccount:default:release';
      await eventually('it has the role', () => can(user, 'create', 'rolloutapprovals.edgeset.io'));
      const token = await mintToken(plane.api, 'default', 'release');
      const own = join(plane.dir, 'release.kubeconfig');
      await writeFile(own, (await readFile(kubeconfig, 'utf8')).replace(/"token":"[^"]*"/, `"token":"${token}"`));
      const decide = async (command: string): Promise<string> => {
        const { code, stdout, stderr } = await cluster.plugin.run([command, 'ds/web', '--kubeconfig', own]);
        assert.equal(code, 0, stderr);
        return stdout;
      };
      assert.match(await decide('approve'), /stage canary approved/);
      assert.match(await decide('promote'), /stage canary promoted/);
      const { items } = await cluster.client.list(rolloutApprovals, { namespace: 'default' });
      const made = items.filter(({ spec }) => spec.approvedBy === user);
      assert.deepEqual(new Set(made.map(({ spec }) => spec.decision)), new Set(['Approve', 'Promote']));
    });

    it('the manager reads plans and approvals, and writes none', async () => {
      const { daemonrollouts, ...rest } = await verbsOf(MANAGER);
      assert.ok(daemonrollouts);
      const read = ['get', 'list', 'watch'];
      assert.deepEqual(rest, { rolloutplans: read, clusterrolloutplans: read, rolloutapprovals: read });
    });

    it('the manager reads Secrets and creates AnalysisRuns only where it is let', async () => {
      const secret = (name: string) => (): Promise<boolean> => can(MANAGER, 'get', `secret/${name}`);
      const analysis = (): Promise<object> => verbsOf(MANAGER, 'argoproj.io');
      assert.deepEqual([await secret('name-of-a-secret')(), await analysis()], [false, {}]);
      for (const file of ['secrets.yaml', 'analysis.yaml']) await run('apply', '-f', join(deploy, 'checks', file));
      await eventually('it may read the Secret', secret('name-of-a-secret'), within);
      const hasAnalysis = async (): Promise<boolean> => 'analysisruns' in (await analysis());
      await eventually('it may create AnalysisRuns', hasAnalysis, within);
      assert.deepEqual(await analysis(), {
        analysisruns: ['create', 'get'],
        analysistemplates: ['get'],
        clusteranalysistemplates: ['get'],
      });
      assert.equal(await secret('another')(), false);
    });

    it('a rollout says that it waits for the plans of the cluster, and then that they cannot be read', async () => {
      const { api } = cluster.plane;
      const namespace = await cluster.createNamespace('late');
      const path = `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
      const hasReason = (reason: string): Promise<string> =>
        kubectl(cluster.kubeconfig, [
          'wait',
          `--for=jsonpath={.status.conditions[?(@.type=="Ready")].reason}=${reason}`,
          'dro/late',
          '--timeout=60s',
          `--namespace=${namespace}`,
        ]);
      const manager = await cluster.startManager({
        namespace,
        args: ['--leader-elect=false', `--namespaces=${namespace}`],
      });
      await api.post(path, daemonSet('late', {}));
      await eventually('its rollout is served', () => hasReason('AllOnlineNodesUpdated').catch(() => false), within);
      const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/edgeset-manager';
      const { rules } = await api.get<{ rules: { resources: string[] }[] }>(role);
      const others = rules.filter(({ resources }) => !resources.includes('rolloutplans'));
      assert.equal(others.length, rules.length - 1);
      await api.patch(role, { rules: others }, 'merge-patch');
      try {
        const mayList = ['list', 'rolloutplans', '-n', namespace];
        const user = `system:serviceaccount:${namespace}:edgeset-manager`;
        await eventually('it may no longer list plans', async () => !(await can(user, ...mayList)), within);
        const metadata = { annotations: { 'edgeset.io/rollout-plan': 'rings' } };
        await api.patch(`${path}/late`, { metadata }, 'merge-patch');
        await hasReason('NotSynced');
        await hasReason('InvalidPolicy');
      } finally {
        await api.patch(role, { rules }, 'merge-patch');
        await manager.stop();
      }
    });
  });
});
