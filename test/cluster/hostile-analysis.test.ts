// A tenant who writes to the AnalysisRun that the manager waits for. The controller of Argo Rollouts does not run: every status is the tenant's.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { DaemonRollout } from '../../src/words/index.ts';
import { eventually } from '../support/index.ts';
import { installArgoRolloutsCrds } from './argo-rollouts/argo-rollouts.ts';
import { type RealCluster, startCluster } from './index.ts';

let cluster: RealCluster;
before(async () => {
  cluster = await startCluster();
});
after(() => cluster.stop());

interface Run {
  metadata: { name: string; ownerReferences: { uid: string }[] };
}

test('an AnalysisRun that a tenant forges holds its own stage, or passes it, and nothing else', async () => {
  const { api } = cluster.plane;
  await cluster.addNodes(['n1', 'n2']);
  const shop = await cluster.createNamespace('shop');
  await installArgoRolloutsCrds(api);
  const manager = await cluster.startManager({ namespace: shop, args: ['--leader-elect=false'] });
  const argo = (plural: string): string => `/apis/argoproj.io/v1alpha1/namespaces/${shop}/${plural}`;
  const edgeset = (plural: string): string => `/apis/edgeset.io/v1alpha1/namespaces/${shop}/${plural}`;
  await api.post(argo('analysistemplates'), {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'AnalysisTemplate',
    metadata: { name: 'errors' },
    spec: { metrics: [{ name: 'errors', provider: { prometheus: { address: 'http://127.0.0.1:1', query: 'up' } } }] },
  });
  await api.post(edgeset('rolloutplans'), {
    apiVersion: 'edgeset.io/v1alpha1',
    kind: 'RolloutPlan',
    metadata: { name: 'app' },
    spec: {
      stages: [{ name: 'canary', nodes: { count: 1 }, promote: { soak: '1s', checks: ['errors'] } }],
      checks: [{ name: 'errors', analysis: { templateName: 'errors' } }],
    },
  });
  const setImage = (name: string, image: string, annotations: object = {}): Promise<unknown> =>
    api.apply(`/apis/apps/v1/namespaces/${shop}/daemonsets/${name}`, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: {
        name,
        annotations: { 'apps.openyurt.io/update-strategy': 'auto', 'edgeset.io/settle-seconds': '0', ...annotations },
      },
      spec: {
        selector: { matchLabels: { app: name } },
        updateStrategy: { type: 'OnDelete' },
        template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'app', image }] } },
      },
    });
  const planned = { 'edgeset.io/rollout-plan': 'app' };
  await setImage('app', 'app:v1', planned);
  await setImage('other', 'app:v1');

  const until = async (what: string, name: string, is: (status: NonNullable<DaemonRollout['status']>) => boolean) =>
    eventually(
      what,
      async () => {
        const { items } = await api.get<{ items: DaemonRollout[] }>(edgeset('daemonrollouts'));
        const status = items.find(({ metadata }) => metadata.name === name)?.status;
        return status && is(status) && status;
      },
      { withinMs: 60_000, everyMs: 100 },
    ).catch(async (cause: unknown) => {
      throw new Error(`${String(cause)}\n${(await manager.log()).slice(-5_000)}`, { cause });
    });
  const isComplete = ({ conditions = [] }: NonNullable<DaemonRollout['status']>): boolean =>
    conditions.some(({ type, status }) => type === 'AllNodesUpdated' && status === 'True');
  const untilSaid = (state: string, text: RegExp) =>
    until(`the check says ${text}`, 'app', ({ stages = [] }) => {
      const [check] = stages.find(({ name }) => name === 'canary')?.checks ?? [];
      assert.ok((check?.message?.length ?? 0) <= 512, 'the message is bounded');
      return check?.state === state && text.test(check.message ?? '');
    });

  await until('the first revision is everywhere', 'app', isComplete);
  await setImage('app', 'app:v2', planned);
  const [run] = await eventually(
    'the manager has created its run',
    async () => {
      const { items } = await api.get<{ items: Run[] }>(argo('analysisruns'));
      return items.length === 1 && items;
    },
    { withinMs: 60_000, everyMs: 100 },
  );
  assert.ok(run);
  const path = `${argo('analysisruns')}/${run.metadata.name}`;
  const forge = (body: object): Promise<unknown> => api.patch(path, body, 'merge-patch');
  await untilSaid('Pending', /waits for the controller of Argo Rollouts/);

  // The name of the manager's run, with another owner.
  const { metadata } = await api.post<{ metadata: { uid: string } }>(`/api/v1/namespaces/${shop}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'mine' },
  });
  const foreign = { apiVersion: 'v1', kind: 'ConfigMap', name: 'mine', uid: metadata.uid, controller: true };
  await forge({ metadata: { ownerReferences: [foreign] }, status: { phase: 'Successful' } });
  await untilSaid('NoResult', /belongs to somebody else: delete it/);

  // A megabyte, and words that Argo Rollouts does not have.
  await forge({
    metadata: { ownerReferences: run.metadata.ownerReferences },
    status: { phase: 'Error', message: 'x'.repeat(1_000_000) },
  });
  await untilSaid('NoResult', /is Error: x+/);
  await forge({ status: { phase: 'y'.repeat(1_000_000), message: '' } });
  await untilSaid('Pending', /is y+/);
  await setImage('other', 'app:v2');
  await until(
    'another DaemonSet is rolled out meanwhile',
    'other',
    (status) => isComplete(status) && status.target?.number === 2,
  );
  assert.equal((await fetch(`${manager.probes}/healthz`)).status, 200);

  // Who may write AnalysisRuns decides what they say.
  await forge({ status: { phase: 'Successful', message: '' } });
  await until('the stage is passed', 'app', isComplete);
  const user = `system:serviceaccount:${shop}:edgeset-manager`;
  const writes = (await cluster.audit.read()).filter(
    (each) => each.user === user && each.resource === 'analysisruns' && each.verb !== 'get',
  );
  assert.deepEqual(
    writes.map(({ verb, name }) => `${verb} ${name}`),
    [`create ${run.metadata.name}`],
  );
  await manager.stop();
});
