import assert from 'node:assert/strict';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import { defaultedTemplate } from '../../../src/kinds/advanced/revisions/index.ts';
import { controllerOf } from '../../../src/rollout/index.ts';
import { type Case, section } from '../kit/index.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kruise-system/leases';
const HASH = 'abc123';

/** OpenKruise's manager is elected for so long from now, and does not come back. */
const elect = async (c: Case, seconds: number): Promise<void> => {
  const spec = {
    holderIdentity: 'kruise-controller-manager-0_1',
    leaseDurationSeconds: seconds,
    renewTime: new Date().toISOString().replace('Z', '000Z'),
  };
  const found = await c.api.find(`${LEASES}/kruise-manager`);
  if (found) await c.api.merge(`${LEASES}/kruise-manager`, { spec });
  else await c.api.create(LEASES, { metadata: { name: 'kruise-manager' }, spec });
};

/** What OpenKruise's manager leaves: a revision, and a pod on each node, that name the version it works in. */
const furnish = async (c: Case): Promise<void> => {
  const { metadata, spec } = await c.advanced();
  const proved = await defaultedTemplate(c.cluster.client, c.namespace, spec.template);
  assert.ok(proved.ok);
  const { template } = proved;
  const ownerReferences = [
    {
      apiVersion: 'apps.kruise.io/v1alpha1',
      kind: 'DaemonSet',
      name: 'app',
      uid: metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ];
  const labels = { ...template.metadata?.labels, 'controller-revision-hash': HASH };
  await c.api.create(`/apis/apps/v1/namespaces/${c.namespace}/controllerrevisions`, {
    metadata: { name: `app-${HASH}`, labels, ownerReferences },
    revision: 1,
    data: { spec: { template: { $patch: 'replace', ...template } } },
  });
  for (const [index, node] of c.nodes.entries())
    await c.api.create(`/api/v1/namespaces/${c.namespace}/pods`, {
      metadata: { name: `app-k${index}`, labels, ownerReferences },
      spec: { ...template.spec, nodeName: node },
    });
};

const identities = async (c: Case): Promise<string[]> =>
  (await c.pods()).map(({ uid, object }) => `${uid} ${object.status?.containerStatuses?.[0]?.containerID}`).toSorted();

const stalled = async (c: Case) => (await c.advanced()).status?.conditions?.find(({ type }) => type === 'Stalled');

export const ownership = section(
  'Coexistence with OpenKruise',
  (rule) => {
    rule(
      'while its manager holds its lease nothing happens and a condition says so; then its pods are taken over unchanged',
      async (c) => {
        if (!(await c.api.find('/api/v1/namespaces/kruise-system')))
          await c.api.create('/api/v1/namespaces', { metadata: { name: 'kruise-system' } });
        await elect(c, 3600);
        try {
          await c.startManager();
          await c.create({ version: 'v1alpha1' });
          const told = await c.until('a condition says so', async () => {
            const found = await stalled(c);
            return found?.status === 'True' && found;
          });
          assert.equal(told.reason, 'OpenKruiseManager');
          assert.match(told.message, /kruise-system\/kruise-manager .* scale deployment kruise-controller-manager/);
          await c.untilEvent('OpenKruiseManager');
          assert.deepEqual(await c.pods(), []);
          await furnish(c);
          await c.untilRunning('app:v1');
          const before = await identities(c);
          await c.setImage('app:v2');
          await c.expectNoUpdatesFor(6);
          assert.deepEqual(await identities(c), before);
          await c.setImage('app:v1');

          await elect(c, 1);
          await c.untilCondition('Complete', 'True', 60_000);
          assert.deepEqual(await identities(c), before);
          await c.until('nothing is in the way', async () => (await stalled(c))?.status === 'False');
          const { metadata, status } = await c.advanced();
          assert.equal(status?.updateRevision, HASH, 'its revision is the present one');
          for (const { object } of await c.pods()) assert.equal(controllerOf(object)?.uid, metadata.uid);
          await c.setImage('app:v3');
          await c.untilRunning('app:v3');
          const path = `/apis/apps/v1/namespaces/${c.namespace}/controllerrevisions`;
          const { items } = await c.api.get<{ items: ControllerRevision[] }>(path);
          assert.deepEqual(
            items.map(({ revision }) => revision).toSorted((a, b) => a - b),
            [1, 2],
          );
        } finally {
          await c.api.remove(`${LEASES}/kruise-manager`);
        }
      },
      { forAll: true, manager: 'none', nodes: 2 },
    );

    rule(
      'a manager that is told not to look at the Lease serves its DaemonSets meanwhile',
      async (c) => {
        if (!(await c.api.find('/api/v1/namespaces/kruise-system')))
          await c.api.create('/api/v1/namespaces', { metadata: { name: 'kruise-system' } });
        await elect(c, 3600);
        try {
          await c.startManager({ args: ['--leader-elect=false', '--check-openkruise-lease=false'] });
          await c.startRollout('app:v2');
          await c.untilRunning('app:v2');
          assert.equal((await stalled(c))?.status, 'False');
        } finally {
          await c.api.remove(`${LEASES}/kruise-manager`);
        }
      },
      { forAll: true, manager: 'none', nodes: 1 },
    );
  },
  { kind: 'advanced' },
);
