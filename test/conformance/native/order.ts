import assert from 'node:assert/strict';
import { readyChanges } from '../../judge/audit/node-outages.ts';
import { budgetKey, type Case, section } from '../kit/index.ts';

/** Nodes that were never offline, as they may be on an overloaded machine: one that was goes first, to be repaired. */
const steadyNodes = async ({ cluster, nodes }: Case): Promise<string[]> => {
  const changes = readyChanges(await cluster.audit.read(), new Set(nodes));
  return nodes.filter((each) => !changes.some(({ node, ready }) => node === each && !ready));
};

export const order = section('Order', (rule) => {
  rule(
    'another for each revision, which neither names nor Ready transitions decide',
    async (c) => {
      const orderOf = async (image: string): Promise<string[]> => {
        const before = (await c.updates()).length;
        await c.setImage(image);
        await c.untilRunning(image);
        await c.untilCondition('Complete');
        return (await c.updatedNodes()).slice(before);
      };
      await c.rolledOut();
      const second = await orderOf('app:v2');
      const third = await orderOf('app:v3');
      for (const found of [second, third]) {
        assert.deepEqual(found.toSorted(), c.nodes);
        assert.notDeepEqual(found, c.nodes);
      }
      assert.notDeepEqual(second, third);
      const again = await orderOf('app:v2');
      const steady = await steadyNodes(c);
      assert.ok(steady.length >= 3, `only ${steady.join(', ')} were never offline`);
      const ofSteady = (found: readonly string[]): string[] => found.filter((node) => steady.includes(node));
      assert.deepEqual(ofSteady(again), ofSteady(second), 'the same for the same revision');
    },
    { nodes: 9 },
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
