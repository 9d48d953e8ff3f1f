import assert from 'node:assert/strict';
import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { section } from '../kit/index.ts';

export const flags = section('Flags of the manager', (rule) => {
  rule(
    'a limit of requests, the name of the Lease, the controllers, and the level and form of the log',
    async (c) => {
      const group = 'coordination.k8s.io';
      // The role that is shipped permits one Lease by its name.
      const rights = `/apis/rbac.authorization.k8s.io/v1/namespaces/${c.namespace}`;
      const metadata = { name: 'another-lease' };
      const permitted = {
        apiGroups: [group],
        resources: ['leases'],
        resourceNames: [metadata.name],
        verbs: ['get', 'update'],
      };
      await c.api.create(`${rights}/roles`, { metadata, rules: [permitted] });
      await c.api.create(`${rights}/rolebindings`, {
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
        subjects: [{ kind: 'ServiceAccount', name: 'edgeset-manager', namespace: c.namespace }],
      });
      const manager = await c.startManager({
        args: [
          '--leader-election-id=another-lease',
          '--controllers=native',
          '--kube-api-qps=10',
          '--kube-api-burst=1',
          '--log-level=debug',
        ],
      });
      await c.create({ annotations: { 'apps.openyurt.io/max-unavailable': '100%' } });
      await c.untilComplete('app:v1');
      const lease = await c.api.get<Lease>(
        `/apis/coordination.k8s.io/v1/namespaces/${c.namespace}/leases/another-lease`,
      );
      assert.notEqual(lease.spec?.holderIdentity ?? '', '');
      await c.setImage('app:v2');
      await c.untilRunning('app:v2');
      const deletes = (await c.updates()).map(({ receivedAt }) => receivedAt).toSorted((a, b) => a - b);
      assert.equal(deletes.length, c.nodes.length);
      const spread = (deletes.at(-1) ?? 0) - (deletes[0] ?? 0);
      assert.ok(spread >= 450, `${deletes.length} deletes within ${spread} ms, at ten requests a second`);
      const lines = (await manager.log()).trim().split('\n');
      assert.ok(
        lines.every((line) => line.startsWith('{')),
        'JSON',
      );
      assert.ok(lines.some((line) => line.includes('"level":"debug"')));
      // Of the controllers that do not run, nothing is served.
      await c.create({ name: 'other' }, 'advanced');
      await c.expectNoUpdatesFor(1);
      assert.deepEqual(await c.pods('other'), []);
      const terse = await c.startManager({ args: ['--leader-elect=false', '--log-level=error', '--log-format=text'] });
      await c.until('it serves', async () => (await fetch(`${terse.probes}/readyz`)).ok);
      assert.equal(await terse.log(), '');
    },
    { nodes: 6, budget: 6, manager: 'none' },
  );

  rule(
    'a Lease that its Role does not name is reported with the remedy',
    async (c) => {
      const manager = await c.startManager({ args: ['--leader-election-id=unnamed'] });
      await c.until('it says so', async () => (await manager.log()).includes('resourceNames: [unnamed]'));
    },
    { nodes: 1, manager: 'none', expected: /failed to acquire the lease/, refusals: true },
  );

  rule(
    'a flag or a context that is not there ends it, and is named',
    async (c) => {
      for (const [flag, code, says] of [
        ['--context=nothing', 1, /contexts: .*nothing.* does not exist/],
        ['--predownload=maybe', 2, /--predownload/],
        ['--kube-api-qps=-1', 2, /--kube-api-qps/],
      ] as const) {
        const manager = await c.startManager({ args: ['--leader-elect=false', flag] });
        assert.equal(await manager.exit, code, flag);
        assert.match(await manager.log(), says);
      }
    },
    { nodes: 1, manager: 'none', expected: /./ },
  );
});
