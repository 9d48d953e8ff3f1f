import assert from 'node:assert/strict';
import type { DaemonRollout } from '../../../src/words/index.ts';
import { type Case, section, untilQuiet, writesSince } from '../kit/index.ts';

const afterQuiet = async (c: Case, seconds: number) => {
  await untilQuiet(c);
  const since = (await c.cluster.audit.read()).at(-1)?.answeredAt ?? 0;
  await c.expectNoUpdatesFor(seconds);
  return writesSince(c, since);
};

export const cost = section('Cost', (rule) => {
  rule('nothing is written at rest, even with offline nodes', async (c) => {
    await c.rolledOut();
    await c.cluster.offline(c.nodes.slice(2));
    await c.setImage('app:v2');
    await c.untilComplete('app:v2', c.nodes.slice(0, 2));
    const found = await afterQuiet(c, 20);
    assert.deepEqual(
      found.map(({ verb, resource }) => `${verb} ${resource}`),
      [],
    );
  });

  rule(
    'with leader election only the Lease is renewed at rest',
    async (c) => {
      await c.rolledOut();
      await c.bringTo('app:v2');
      const found = await afterQuiet(c, 20);
      const kinds = new Set(found.map(({ verb, resource }) => `${verb} ${resource}`));
      assert.deepEqual([...kinds], ['update leases']);
      assert.ok(found.length <= 12, `${found.length} renewals in 20 s`);
    },
    { manager: ['--leader-elect=true'], nodes: 1 },
  );

  rule(
    'nothing is written at rest while halted, paused or frozen',
    async (c) => {
      await c.startRollout('app:v2--crash-loop');
      await c.untilCondition('Halted');
      assert.deepEqual(
        (await afterQuiet(c, 8)).map(({ verb, resource }) => `${verb} ${resource}`),
        [],
      );
      await c.annotate({ 'edgeset.io/paused': 'true' });
      await c.untilCondition('Paused');
      assert.deepEqual(
        (await afterQuiet(c, 5)).map(({ verb, resource }) => `${verb} ${resource}`),
        [],
      );
    },
    { nodes: 2 },
  );

  rule(
    'one DELETE per updated pod, and one write reserves the slots of a wave',
    async (c) => {
      await c.rolledOut({ annotations: { 'apps.openyurt.io/max-unavailable': '4', 'edgeset.io/first-wave': '4' } });
      // Times of nodes are whole seconds: one that has just become Ready settles for up to a second.
      const ready = Date.now();
      await c.until('the nodes have settled', () => Date.now() > ready + 2_000);
      const since = (await c.cluster.audit.read()).at(-1)?.answeredAt ?? 0;
      await c.bringTo('app:v2');
      const found = await writesSince(c, since);
      const onPods = found.filter(({ resource }) => resource.startsWith('pods'));
      assert.deepEqual(
        onPods.map(({ verb }) => verb),
        Array.from({ length: 8 }, () => 'delete'),
      );
      const first = found
        .map(({ response }) => response as DaemonRollout)
        .find(({ kind, status }) => kind === 'DaemonRollout' && (status?.reservations?.length ?? 0) > 0);
      assert.equal(first?.status?.reservations?.length, 4, 'the whole wave');
    },
    { nodes: 8 },
  );
});
