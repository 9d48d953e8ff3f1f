import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { clusterRolloutPlans, rolloutApprovals, rolloutPlans } from '../../../controller/index.ts';
import { advancedDaemonSetApi } from '../../../kinds/advanced/index.ts';
import { awaitingApproval, planWith, stage } from '../../../view/testing/index.ts';
import type { DaemonRolloutStage, DaemonRolloutStatus, RolloutApproval } from '../../../words/index.ts';
import { createEmbeddedTestCluster } from '../testing/embedded-cluster.ts';
import { createFakeCluster, observed } from '../testing/fake-cluster.ts';

const namespace = 'default';
const APPROVED = { promote: { approval: { required: true } } };
const OPEN = [stage('lab', 'Open', { awaits: { reason: 'Soak', message: 'soaks until noon' } })];

describe('approve and promote', () => {
  const world = createEmbeddedTestCluster(Math.random);
  const { client } = world;

  const approvals = async (name: string): Promise<RolloutApproval['spec'][]> => {
    const { items } = await client.list(rolloutApprovals, { namespace });
    return items.map(({ spec }) => spec).filter(({ daemonSet }) => daemonSet.name === name);
  };
  /** A rollout from the first to the second revision, with these stages of a plan of the same name. */
  const staged = async (
    name: string,
    stages: readonly DaemonRolloutStage[],
    plan = name,
    more: DaemonRolloutStatus = {},
  ): Promise<string> => {
    await world.create(name, ['app:1', 'app:2']);
    await world.status(name, { ...more, plan, stages: [...stages] }, 2, 1);
    const [, second] = await world.revisions(name);
    return second?.metadata?.labels?.['controller-revision-hash'] ?? '';
  };
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await world.run(...args);
    assert.deepEqual([code, stdout], [1, ''], stderr);
    assert.match(stderr, /^kubectl edgeset: .*\n$/, 'one sentence');
    return stderr;
  };

  it('approves the stage that awaits it, for the present revision, in the name of the user', async () => {
    const revision = await staged('web', awaitingApproval);
    await client.create(
      rolloutPlans,
      planWith('RolloutPlan', { name: 'web', namespace }, [{ name: 'canary', ...APPROVED }]),
    );
    assert.deepEqual(await world.run('approve', 'ds/web', '--comment', 'looks good'), {
      code: 0,
      stdout: `daemonset.apps/web stage canary approved at revision ${revision}\n`,
      stderr: '',
    });
    const [spec, ...others] = await approvals('web');
    assert.deepEqual(others, []);
    const approvedBy = spec?.approvedBy ?? '';
    assert.notEqual(approvedBy, '');
    assert.deepEqual(spec, {
      daemonSet: { apiGroup: 'apps', name: 'web' },
      revision,
      stage: 'canary',
      decision: 'Approve',
      approvedBy,
      comment: 'looks good',
    });
    const again = await world.run('approve', 'web');
    assert.equal(
      again.stdout,
      `daemonset.apps/web stage canary is already approved by ${approvedBy} at revision ${revision}\n`,
    );
    assert.equal((await approvals('web')).length, 1);
    assert.match((await world.run('promote', 'web')).stdout, /^daemonset\.apps\/web stage canary promoted /);
    assert.equal((await approvals('web')).length, 2, 'a promotion is another decision');
  });

  it('promotes the open stage, and says what is still to be given', async () => {
    const revision = await staged('quick', OPEN);
    const { stdout, stderr } = await world.run('promote', 'ds', 'quick');
    assert.equal(
      stdout,
      `daemonset.apps/quick stage lab promoted at revision ${revision}: its coverage, soak and checks are skipped\n`,
    );
    assert.match(
      stderr,
      /^Note: If the plan requires an approval of stage lab, it is still to be given: run "kubectl edgeset approve ds\/quick --stage lab -n default"\.\n$/,
    );
    assert.deepEqual(
      (await approvals('quick')).map(({ decision }) => decision),
      ['Promote'],
    );
  });

  it('knows from the plan whether the stage requires an approval', async () => {
    await staged('needs', OPEN, 'cluster/all-shops');
    const plan = planWith('ClusterRolloutPlan', { name: 'all-shops' }, [{ name: 'lab', ...APPROVED }]);
    const stored = await client.create(clusterRolloutPlans, plan);
    const note = async (): Promise<string> => (await world.run('promote', 'needs', '--dry-run=server')).stderr;
    assert.match(
      await note(),
      /^Note: The plan also requires an approval of stage lab: run "kubectl edgeset approve ds\/needs --stage lab -n default"\.\n$/,
    );
    const early = await world.run('approve', 'needs', '--stage', 'lab');
    assert.equal(early.stderr, 'Note: Stage lab soaks until noon.\n');
    assert.equal(await note(), '', 'it is given');
    await client.replace(clusterRolloutPlans, { ...stored, spec: { stages: [{ name: 'lab' }] } });
    assert.match(
      await refused('approve', 'needs', '--stage', 'lab'),
      /plan cluster\/all-shops requires no approval of stage lab: "kubectl edgeset promote ds\/needs --stage lab -n default" skips what the stage waits for/,
    );
  });

  it('does nothing in a dry run, and prints the object', async () => {
    const revision = await staged('dry', awaitingApproval);
    assert.equal(
      (await world.run('approve', 'dry', '--dry-run')).stdout,
      `daemonset.apps/dry stage canary approved at revision ${revision} (dry run)\n`,
    );
    assert.match((await world.run('approve', 'dry', '--dry-run=server')).stdout, /\(server dry run\)$/m);
    const printed = JSON.parse(
      (await world.run('approve', 'dry', '--dry-run=client', '-o', 'json')).stdout,
    ) as RolloutApproval;
    assert.deepEqual(printed.metadata, { generateName: 'dry-', namespace });
    assert.deepEqual([printed.kind, printed.spec.stage], ['RolloutApproval', 'canary']);
    assert.deepEqual(await approvals('dry'), []);
    assert.match((await world.run('approve', 'dry', '-o', 'name')).stdout, /^rolloutapproval\.edgeset\.io\/dry-\w+\n$/);
    const stored = parse((await world.run('approve', 'dry', '-o', 'yaml')).stdout) as RolloutApproval;
    assert.deepEqual([stored.metadata.managedFields, stored.spec.stage], [undefined, 'canary']);
    assert.equal((await approvals('dry')).length, 1, 'the one that is there is printed');
  });

  it('approves an open stage whose timeout has ended', async () => {
    await staged('late', [stage('lab', 'Open', { awaits: { reason: 'Timeout', message: 'waits for an approval' } })]);
    assert.match((await world.run('approve', 'late')).stdout, /stage lab approved/);
  });

  it('takes a stage by name, also before it is open', async () => {
    const revision = await staged('early', awaitingApproval);
    const { stdout, stderr } = await world.run('promote', 'early', '--stage=fleet');
    assert.match(stdout, new RegExp(`stage fleet promoted at revision ${revision}`));
    assert.match(stderr, /^Note: Stage fleet is not open yet: this counts once it is\.\n/);
  });

  it('says that nothing is promoted while the rollout is paused or halted', async () => {
    await staged('still', awaitingApproval);
    await world.change('still', { metadata: { annotations: { 'edgeset.io/paused': 'true' } } }, 'merge');
    assert.match(
      (await world.run('approve', 'still')).stderr,
      /^Note: The rollout is paused: nothing is promoted until "kubectl edgeset resume ds\/still -n default"\.\n$/,
    );
    const halted = { at: '2030-01-01T00:00:00Z', reason: 'Failures' as const, nodes: [] };
    await staged('stuck', awaitingApproval, 'stuck', { halted });
    assert.match(
      (await world.run('approve', 'stuck')).stderr,
      /^Note: The rollout is halted: nothing is promoted until "kubectl edgeset resume ds\/stuck -n default"\.\n$/,
    );
  });

  it('refuses a stage that cannot be passed, and lists the stages', async () => {
    await staged('list', awaitingApproval);
    const stages =
      /its stages are lab \(passed\), canary \(open, awaits approval\), fleet \(closed\), rest \(closed\)\n$/;
    for (const [args, problem] of [
      [
        ['approve', 'list', '--stage', 'kanary'],
        /there is no stage "kanary" in plan list of DaemonSet default\/list: /,
      ],
      [['approve', 'list', '--stage', 'lab'], /stage lab of DaemonSet default\/list is already passed: /],
      [['promote', 'list', '--stage', 'lab'], /stage lab of DaemonSet default\/list is already passed: /],
      [['promote', 'list', '--stage', 'rest'], /stage rest of .* has no gate, and no stage comes after it: /],
    ] as const) {
      const error = await refused(...args);
      assert.match(error, problem);
      assert.match(error, stages);
    }
    await staged('soaks', OPEN);
    assert.match(
      await refused('approve', 'soaks'),
      /no stage of DaemonSet default\/soaks awaits approval: to approve one in advance, name it with --stage; its stages are lab \(open\)/,
    );
    await staged('over', [stage('lab', 'Passed'), stage('rest', 'Passed')]);
    assert.match(
      await refused('promote', 'over'),
      /no stage of DaemonSet default\/over waits for anything: its stages are lab \(passed\), rest \(passed\)/,
    );
    await staged('back', [stage('lab', 'Open'), stage('rest', 'Open')]);
    assert.match(await refused('promote', 'back'), /no stage of DaemonSet default\/back waits for anything: /);
    assert.match(
      await refused('approve', 'back', '--stage', 'lab'),
      /stage lab of DaemonSet default\/back waits for nothing: its stages are lab \(open\)/,
    );
    const last = { awaits: { reason: 'Coverage' as const, message: 'has no stage after it' } };
    await staged('last', [stage('lab', 'Passed'), stage('rest', 'Open', last)]);
    assert.match(await refused('promote', 'last'), /stage rest of .* has no gate, and no stage comes after it/);
  });

  it('refuses a rollout without stages, and says why there are none', async () => {
    await world.create('fresh', ['app:1']);
    assert.match(
      await refused('approve', 'fresh'),
      /no manager has recorded a rollout of DaemonSet default\/fresh yet: check that/,
    );
    await world.create('plain', ['app:1', 'app:2']);
    await world.status('plain', {}, 2, 1);
    assert.match(
      await refused('promote', 'plain'),
      /DaemonSet default\/plain has no rollout plan, and so no stages: name one in its annotation edgeset\.io\/rollout-plan/,
    );
    await world.create('lost', ['app:1', 'app:2']);
    await world.status('lost', { plan: 'gone' }, 2, 1);
    assert.match(
      await refused('approve', 'lost'),
      /plan gone gives DaemonSet default\/lost no stages: add spec\.stages to it; if it has them, "kubectl edgeset explain ds\/lost -n default" says why/,
    );
    await world.change('lost', { metadata: { annotations: { 'edgeset.io/rollout-plan': 'gone' } } });
    assert.match(
      await refused('approve', 'lost'),
      /default\/lost has no stages, because its rollout policy is not valid: edgeset\.io\/rollout-plan "gone" names a plan that does not exist: /,
    );
    await staged('edited', awaitingApproval);
    await world.change('edited', { spec: world.withImage('app:3') });
    assert.match(
      await refused('approve', 'edited'),
      /the manager has not observed the current template of DaemonSet default\/edited yet: /,
    );
    await world.create('wild', ['app:1']);
    await world.change('wild', { metadata: { annotations: null } }, 'merge');
    assert.match(await refused('approve', 'wild'), /default\/wild .*apps\.openyurt\.io\/update-strategy/);
    assert.match(await refused('promote', 'nobody'), /there is no DaemonSet default\/nobody/);
  });
});

describe('approve and promote, refused', () => {
  const world = createFakeCluster();
  const APPROVALS = '/apis/edgeset.io/v1alpha1/namespaces/shop/rolloutapprovals';
  const refusedWith = async (
    fault: { status: number; reason: string; message: string; causes?: object[] } | undefined,
  ) => {
    world.api.plurals.add('selfsubjectreviews');
    if (fault) world.api.plurals.add('rolloutapprovals');
    world.daemonSet();
    world.rollout({ ...observed, plan: 'rings', stages: [...awaitingApproval] });
    world.api.fault = (method, path) => (fault && method === 'POST' && path === APPROVALS ? fault : undefined);
    const { code, stdout, stderr } = await world.run(['approve', 'ds/web']);
    assert.deepEqual([code, stdout], [1, '']);
    return stderr;
  };

  it('name the CRDs to install', async () => {
    assert.equal(
      await refusedWith(undefined),
      'kubectl edgeset: the cluster has no CRD for RolloutApprovals: install it with "kubectl edgeset crds | kubectl apply -f -"\n',
    );
  });

  it('name the ClusterRole that permits it', async () => {
    const message = 'rolloutapprovals.edgeset.io is forbidden: User "eve" cannot create resource "rolloutapprovals"';
    assert.equal(
      await refusedWith({ status: 403, reason: 'Forbidden', message }),
      `kubectl edgeset: ${message}: ask your cluster administrator to bind the ClusterRole edgeset-approver to you in namespace shop, or use another --context\n`,
    );
  });

  for (const [status, reason] of [
    [403, 'Forbidden'],
    [422, 'Invalid'],
  ] as const)
    it(`say that a policy refused it (${reason})`, async () => {
      const message = 'rolloutapprovals.edgeset.io "web-" is forbidden: approvedBy must be your own name';
      assert.equal(
        await refusedWith({ status, reason, message, causes: [{ message: 'approvedBy must be your own name' }] }),
        `kubectl edgeset: an admission policy refused the approval: ${message}\n`,
      );
    });

  it('are for Advanced DaemonSets, too', async () => {
    world.api.plurals.add('selfsubjectreviews').add('rolloutapprovals');
    world.advanced();
    world.api.put('/apis/edgeset.io/v1alpha1/namespaces/shop/daemonrollouts', {
      metadata: {
        name: 'web.apps.kruise.io',
        namespace: 'shop',
        ownerReferences: [
          { apiVersion: 'apps.kruise.io/v1beta1', kind: 'DaemonSet', name: 'web', uid: 'uid-web', controller: true },
        ],
      },
      status: { ...observed, plan: 'rings', stages: [...awaitingApproval] },
    });
    const { code, stdout, stderr } = await world.run(['approve', 'ads/web', '--dry-run', '-o', 'json']);
    assert.equal(code, 0, stderr);
    assert.deepEqual((JSON.parse(stdout) as RolloutApproval).spec.daemonSet, {
      apiGroup: advancedDaemonSetApi.group,
      name: 'web',
    });
  });
});
