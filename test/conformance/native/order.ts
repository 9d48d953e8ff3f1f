import assert from 'node:assert/strict';
import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { budgetKey, type Case, section } from '../kit/index.ts';

/** By the time of the last Ready transition, ties by name. */
const byTurn = async (c: Case, names: readonly string[]): Promise<string[]> => {
  const turns = await Promise.all(
    names.map(async (name) => {
      const { status } = await c.api.get<Node>(`/api/v1/nodes/${name}`);
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return { name, since: Date.parse(String(ready?.lastTransitionTime)) };
    }),
  );
  return turns.toSorted((a, b) => a.since - b.since || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
};

export const order = section('Order', (rule) => {
  rule(
    'by the oldest Ready transition of the node, then by name',
    async (c) => {
      const later = [`${c.namespace}-a`, `${c.namespace}-b`];
      await c.addNodes(later);
      const all = [...c.nodes, ...later];
      await c.create();
      await c.untilComplete('app:v1', all);
      const [oldest = ''] = c.nodes;
      await c.cluster.offline([oldest]);
      await c.cluster.online([oldest]);
      await c.until('all are settled', async () => (await c.status()).nodes?.online === all.length);
      const expected = await byTurn(c, all);
      assert.equal(expected.at(-1), oldest);
      await c.setImage('app:v2');
      await c.untilRunning('app:v2', all);
      assert.deepEqual(await c.updatedNodes(), expected);
    },
    { nodes: 3 },
  );

  rule(
    'a topology key spreads each wave over its values',
    async (c) => {
      const zones = new Map<string, string>();
      for (const zone of ['a', 'b', 'c']) {
        const names = ['1', '2', '3'].map((index) => `${c.namespace}-${zone}${index}`);
        await c.addNodes(names, { zone });
        for (const name of names) zones.set(name, zone);
      }
      const all = [...zones.keys()];
      await c.create({
        annotations: { 'edgeset.io/topology-key': 'topology.kubernetes.io/zone', [budgetKey]: '3' },
        podAnnotations: { 'sim.edgeset.io/start-ms': '1500' },
      });
      await c.untilComplete('app:v1', all);
      await c.setImage('app:v2');
      await c.until('a wave', async () => (await c.updates()).length >= 3);
      const wave = (await c.updatedNodes()).slice(0, 3).map((node) => zones.get(node) ?? '');
      assert.deepEqual(wave.toSorted(), ['a', 'b', 'c']);
      await c.untilRunning('app:v2', all);
    },
    { nodes: [] },
  );
});
