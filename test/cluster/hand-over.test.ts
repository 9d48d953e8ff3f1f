import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AdvancedDaemonSet } from '../../src/kinds/advanced/index.ts';
import { controllerOf } from '../../src/rollout/index.ts';
import { eventually } from '../support/index.ts';
import { kubectl, type RealCluster, startCluster } from './index.ts';

const NODES = 200;

let cluster: RealCluster;
before(async () => {
  // As many requests as a controller manager sends unless told otherwise: the garbage collector needs seconds.
  cluster = await startCluster({ limits: { qps: 20, burst: 30 }, graceSeconds: 40 });
});
after(() => cluster.stop());

const manifest = (apiVersion: string) => ({
  apiVersion,
  kind: 'DaemonSet',
  metadata: { name: 'app' },
  spec: {
    selector: { matchLabels: { app: 'app' } },
    template: { metadata: { labels: { app: 'app' } }, spec: { containers: [{ name: 'app', image: 'app:v1' }] } },
  },
});

it(`the pods of ${NODES} nodes are handed over as they are, while the garbage collector takes its time`, {
  timeout: 420_000,
}, async () => {
  const { api } = cluster.plane;
  const namespace = await cluster.createNamespace('h');
  const run = (args: string[], input?: object): Promise<string> =>
    kubectl(cluster.kubeconfig, ['-n', namespace, ...args], input && JSON.stringify(input));
  const pods = async (): Promise<Pod[]> =>
    (await api.get<{ items: Pod[] }>(`/api/v1/namespaces/${namespace}/pods`)).items;
  const advanced = (): Promise<AdvancedDaemonSet> =>
    api.get(`/apis/apps.kruise.io/v1beta1/namespaces/${namespace}/daemonsets/app`);
  const uids = (all: readonly Pod[]): string[] => all.map(({ metadata }) => metadata?.uid ?? '').toSorted();
  const within = { withinMs: 180_000, everyMs: 200 };

  await cluster.addNodes(Array.from({ length: NODES }, (_, index) => `node-${index}`));
  const manager = await cluster.startManager({ namespace, args: ['--leader-elect=false'] });
  await run(['apply', '-f', '-'], manifest('apps/v1'));
  await eventually(
    'the native DaemonSet has its pods',
    async () => {
      const { status } = await api.get<{ status?: { numberReady?: number } }>(
        `/apis/apps/v1/namespaces/${namespace}/daemonsets/app`,
      );
      return status?.numberReady === NODES;
    },
    within,
  );
  const natives = uids(await pods());

  await run(['apply', '-f', '-'], manifest('apps.kruise.io/v1beta1'));
  const stalled = async () => (await advanced()).status?.conditions?.find(({ type }) => type === 'Stalled');
  await eventually('it is stalled', async () => (await stalled())?.reason === 'NativeDaemonSet', within);
  await run(['delete', 'daemonset.apps', 'app', '--cascade=orphan', '--wait=false']);
  await Promise.all([
    eventually(
      'some pods are released, and others are not',
      async () => {
        const released = (await pods()).filter((pod) => controllerOf(pod) === undefined).length;
        return released > 0 && released < NODES;
      },
      { ...within, everyMs: 50 },
    ),
    eventually(
      'it says what it waits for',
      async () => /which is being deleted/.test((await stalled())?.message ?? ''),
      { ...within, everyMs: 50 },
    ),
  ]);
  await eventually(
    'all are its own',
    async () => {
      const { metadata, status } = await advanced();
      if (status?.updatedNumberScheduled !== NODES || status.numberAvailable !== NODES) return false;
      return (await pods()).every((pod) => controllerOf(pod)?.uid === metadata.uid);
    },
    within,
  );
  assert.deepEqual(uids(await pods()), natives);
  const writes = (await cluster.audit.read()).filter(
    ({ user, resource, verb }) =>
      user === manager.user && resource === 'pods' && (verb === 'create' || verb === 'delete'),
  );
  assert.deepEqual(writes, [], 'no pod was created or deleted');
  const path = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;
  assert.equal((await api.get<{ items: object[] }>(path)).items.length, 1);
  await manager.stop();
});
