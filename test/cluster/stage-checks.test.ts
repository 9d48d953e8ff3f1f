// The checks of a stage, from the plan to the rollout: a manager that asks a real Prometheus, itself and through a real
// controller of Argo Rollouts.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DaemonRollout, PlanCheck } from '../../src/words/index.ts';
import type { Manager } from '../conformance/index.ts';
import { checkStages } from '../judge/audit/check-stages.ts';
import { eventually } from '../support/index.ts';
import { startArgoRollouts } from './argo-rollouts/argo-rollouts.ts';
import { autoDaemonSet } from './auto-daemon-set.ts';
import { findPromtool } from './helm/promtool.ts';
import { type RealCluster, startCluster } from './index.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';

const promtool = findPromtool();
const skip = 'missing' in promtool && promtool.missing;

let cluster: RealCluster;
let prometheus: Prometheus;
let manager: Manager;
let shop: string;

interface Run {
  metadata: { name: string; ownerReferences?: { name: string; kind: string }[] };
  spec: { args?: { name: string; value: string }[] };
  status?: { phase: string };
}

const base = (): string => `/apis/edgeset.io/v1alpha1/namespaces/${shop}`;
const argo = (plural: string): string => `/apis/argoproj.io/v1alpha1/namespaces/${shop}/${plural}`;

const setImage = (name: string, image: string): Promise<unknown> =>
  cluster.plane.api.apply(
    `/apis/apps/v1/namespaces/${shop}/daemonsets/${name}`,
    autoDaemonSet(name, image, {
      annotations: {
        'apps.openyurt.io/max-unavailable': '100%',
        'edgeset.io/settle-seconds': '0',
        'edgeset.io/rollout-plan': name,
      },
    }),
  );

/** A plan of one canary that soaks for a second, and its check. */
const setPlan = (name: string, check: Omit<PlanCheck, 'name'>): Promise<unknown> =>
  cluster.plane.api.apply(`${base()}/rolloutplans/${name}`, {
    apiVersion: 'edgeset.io/v1alpha1',
    kind: 'RolloutPlan',
    metadata: { name },
    spec: {
      stages: [{ name: 'canary', nodes: { count: 1 }, promote: { soak: '1s', checks: ['errors'] } }],
      checks: [{ name: 'errors', ...check }],
    },
  });

type Status = NonNullable<DaemonRollout['status']>;

const until = (what: string, name: string, is: (status: Status) => boolean): Promise<Status> =>
  eventually(
    what,
    async () => {
      const { status } = await cluster.plane.api.get<DaemonRollout>(`${base()}/daemonrollouts/${name}`);
      return status && is(status) && status;
    },
    { withinMs: 120_000, everyMs: 50 },
  ).catch(async (cause: unknown) => {
    throw new Error(`${String(cause)}\n${await manager.log()}`, { cause });
  });

const isTrue =
  (type: string) =>
  ({ conditions = [] }: Status): boolean =>
    conditions.some((each) => each.type === type && each.status === 'True');
const checkOf = ({ stages = [] }: Status) => stages.find(({ name }) => name === 'canary')?.checks?.[0];

/** The first revision of a new DaemonSet is not staged. */
const create = async (name: string): Promise<void> => {
  await setImage(name, 'app:v1');
  await until('the first revision is everywhere', name, isTrue('AllNodesUpdated'));
};

before(async () => {
  if ('missing' in promtool) return;
  cluster = await startCluster();
  shop = await cluster.createNamespace('shop');
  await cluster.addNodes(['n0', 'n1', 'n2']);
  prometheus = await startPrometheus(cluster.plane, { file: promtool.prometheus });
  const namespace = await cluster.createNamespace('edgeset');
  const args = [`--leader-election-namespace=${namespace}`, `--prometheus-address=${prometheus.url}`];
  manager = await cluster.startManager({ namespace, args });
});
after(async () => {
  if ('missing' in promtool) return;
  await cluster.stop();
  promtool.close();
});

describe('a check that the manager evaluates itself', { skip }, () => {
  const plan = (value: string): Promise<unknown> =>
    setPlan('web', {
      prometheus: { query: `${value} or on() vector(0) < 0`, condition: 'result.all(r, r < 0.05)', interval: '1s' },
    });

  it('holds the stage while Prometheus has no sample, and lets it pass once it has', async () => {
    await plan('no_such_metric');
    await create('web');
    await setImage('web', 'app:v2');
    const held = await until('the check has no result', 'web', (status) => checkOf(status)?.state === 'NoResult');
    assert.match(checkOf(held)?.message ?? '', /the query returns no sample/);
    assert.equal(held.stages?.find(({ name }) => name === 'rest')?.state, 'Closed');
    await plan('vector(0.01)');
    const done = await until('the rollout is complete', 'web', isTrue('AllNodesUpdated'));
    assert.equal(done.stages?.find(({ name }) => name === 'canary')?.state, 'Passed');
  });

  it('halts the rollout when its condition is false, with one node updated', async () => {
    await plan('vector(0.5)');
    await setImage('web', 'app:v3');
    const halted = await until('the rollout is halted', 'web', isTrue('Halted'));
    assert.equal(halted.halted?.reason, 'CheckFailed');
    assert.deepEqual([checkOf(halted)?.state, checkOf(halted)?.failures], ['Failed', 1]);
    assert.match(checkOf(halted)?.message ?? '', /is false for 0\.5\./);
    assert.equal(halted.nodes?.updated, 1);
  });
});

describe('an analysis of Argo Rollouts', { skip }, () => {
  const runs = async (): Promise<Run[]> => (await cluster.plane.api.get<{ items: Run[] }>(argo('analysisruns'))).items;
  const setTemplate = (query: string): Promise<unknown> =>
    cluster.plane.api.apply(`${argo('analysistemplates')}/errors`, {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'AnalysisTemplate',
      metadata: { name: 'errors' },
      spec: {
        args: [{ name: 'ds' }, { name: 'address', value: prometheus.url }],
        metrics: [
          {
            name: 'errors',
            count: 2,
            interval: '1s',
            // Otherwise it takes Argo Rollouts a minute to give up.
            consecutiveErrorLimit: 0,
            successCondition: 'result[0] < 0.05',
            provider: { prometheus: { address: '{{args.address}}', query } },
          },
        ],
      },
    });

  it('makes the plan invalid until Argo Rollouts and the template are there, and passes with its run', async () => {
    const args = [{ name: 'ds', value: '${daemonSet}/${stage}' }];
    await setPlan('app', { prometheus: { query: 'up', condition: 'result.all(r, r > 0.0)' } });
    await create('app');
    await setPlan('app', { analysis: { templateName: 'errors', args } });
    await setImage('app', 'app:v2');
    const says = (what: RegExp): Promise<Status> =>
      until(`the plan is invalid: ${what}`, 'app', ({ conditions = [] }) =>
        conditions.some(({ type, message }) => type === 'Stalled' && what.test(message)),
      );
    await says(/templateName "AnalysisTemplate \S+\/errors" needs Argo Rollouts, which is not installed/);
    await startArgoRollouts(cluster.plane);
    await says(/templateName "AnalysisTemplate \S+\/errors" does not exist: create it/);
    await setTemplate('vector(0.01)');
    await until('the rollout is complete', 'app', isTrue('AllNodesUpdated'));
    const [run, ...others] = await runs();
    assert.deepEqual(others, []);
    assert.equal(run?.status?.phase, 'Successful');
    assert.deepEqual(
      run?.metadata.ownerReferences?.map(({ kind, name }) => `${kind}/${name}`),
      ['DaemonSet/app'],
    );
    assert.equal(run?.spec.args?.find(({ name }) => name === 'ds')?.value, 'app/canary');
  });

  it('runs a template of the cluster', async () => {
    await cluster.plane.api.apply('/apis/argoproj.io/v1alpha1/clusteranalysistemplates/everywhere', {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'ClusterAnalysisTemplate',
      metadata: { name: 'everywhere' },
      spec: {
        args: [{ name: 'address', value: prometheus.url }],
        metrics: [
          {
            name: 'errors',
            successCondition: 'result[0] < 0.05',
            provider: { prometheus: { address: '{{args.address}}', query: 'vector(0.01)' } },
          },
        ],
      },
    });
    await setPlan('all', { analysis: { clusterTemplateName: 'everywhere' } });
    await create('all');
    await setImage('all', 'app:v2');
    const isDone = (status: Status): boolean =>
      isTrue('AllNodesUpdated')(status) && checkOf(status)?.state === 'Passing';
    await until('the check passed and the rollout is complete', 'all', isDone);
    await cluster.plane.api.delete(`/apis/apps/v1/namespaces/${shop}/daemonsets/all`);
  });

  it('halts the rollout with a run that failed', async () => {
    await setTemplate('vector(0.5)');
    await setImage('app', 'app:v3');
    const halted = await until('the rollout is halted', 'app', isTrue('Halted'));
    assert.equal(halted.halted?.reason, 'CheckFailed');
    assert.match(checkOf(halted)?.message ?? '', /^AnalysisRun .* is Failed: Metric "errors" assessed Failed/);
    assert.equal(halted.nodes?.updated, 1);
  });

  it('holds the stage while its run has an error', async () => {
    await setTemplate('sum(');
    await setImage('app', 'app:v4');
    const held = await until('the run has an error', 'app', (status) =>
      /is Error/.test(checkOf(status)?.message ?? ''),
    );
    assert.equal(checkOf(held)?.state, 'NoResult');
    assert.equal(isTrue('Halted')(held), false);
  });
});

describe('the audit log of these rollouts', { skip }, () => {
  it('shows no update of a closed stage, and no promotion that was taken back', async () => {
    const records = await cluster.audit.read();
    for (const daemonSet of ['web', 'app']) {
      const rules = new Set<string>();
      const checked = (rule: string): void => void rules.add(rule);
      assert.deepEqual(checkStages(records, { namespace: shop, daemonSet, checked }), []);
      for (const rule of ['G1', 'G2', 'G5']) assert.ok(rules.has(rule), `${rule} was checked for ${daemonSet}`);
    }
  });
});
