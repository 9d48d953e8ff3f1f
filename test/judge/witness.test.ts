import assert from 'node:assert/strict';
import { it } from 'node:test';
import { followClusterState } from './state/cluster-state.ts';
import { createProcessView } from './state/process-view.ts';
import { createWitness } from './witness.ts';

const ref = { group: 'apps', name: 'app' };
const node = (ready: boolean) => ({
  metadata: { name: 'node-1' },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});

/** The node is not ready, and the process has heard of it as ready or not. */
const testify = (invariant: string, text: string, heardOf: boolean): string[] => {
  const { state, apply } = followClusterState(ref);
  apply({ type: 'ADDED', resource: { group: '', plural: 'nodes' }, object: node(false), arrivedAt: 0, answeredAt: 0 });
  const view = createProcessView(ref, () => 0);
  view.applyEvent('nodes', 'nodes', { type: 'ADDED', object: node(heardOf) });
  const witness = createWitness({ actual: () => state, viewOf: () => view, believers: () => [] });
  return [...witness(invariant, text)];
};
const text = 'manager-1 deletes app-x on node-1, which had not been ready';

it('a process that had received everything is at fault', () => {
  const found = testify('S1', text, false);
  assert.ok(found.includes('node-1: not ready, no pod'));
  assert.match(found.at(-1) ?? '', /^manager-1 had received all of this: .* the product is at fault$/);
});

it('what a process had not received accuses the judge, unless the rule goes by what it had received', () => {
  const found = testify('S1', text, true);
  assert.ok(found.includes('node-1: not ready, no pod; manager-1 knew: ready, no pod'));
  assert.match(found.at(-1) ?? '', /^manager-1 had not received what is new of node-1: the judge is at fault if/);
  assert.match(testify('S4', text, true).at(-1) ?? '', /rather the product is at fault$/);
});

it('where nothing happens, those who believe that they lead are asked', () => {
  assert.match(
    testify('L5', '1 slots have been free while node-1 wait', true)[0] ?? '',
    /^nobody believed that it led/,
  );
});
