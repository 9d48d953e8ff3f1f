import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAdvancedPolicy } from '../api/policy.ts';
import { createDirtyNodes, type SyncInputs } from './dirty-nodes.ts';

const spec = { selector: { matchLabels: { app: 'a' } }, template: { spec: { containers: [] } } };
const measure: SyncInputs = {
  hash: 'h1',
  blocked: false,
  policy: parseAdvancedPolicy(spec, {}),
  preDelete: undefined,
  preDeleteTimeoutMs: Number.POSITIVE_INFINITY,
  deleted: undefined,
};
const NEVER = Number.POSITIVE_INFINITY;

const emptyStore = {
  get: () => undefined,
  byIndex: () => [],
  *values() {},
  *entries() {},
  size: 0,
};

const open = (...names: readonly string[]) => {
  const view = (): never => assert.fail('no pod is told of');
  const agenda = createDirtyNodes({ nodes: emptyStore, pods: emptyStore, view });
  for (const name of names) agenda.addNode(name);
  return agenda;
};

test('a node that wants a pod and nothing else is not looked at until one may be created', () => {
  const agenda = open('a', 'b');
  assert.deepEqual(agenda.due(measure, true, 0), ['a', 'b']);
  agenda.synced('a', NEVER, 'creation');
  agenda.synced('b', NEVER, undefined);
  assert.equal(agenda.awaitsCreation(), true);
  assert.deepEqual(agenda.due(measure, false, 0), []);
  assert.deepEqual(agenda.due(measure, true, 0), ['a']);
  agenda.synced('a', NEVER, undefined);
  assert.equal(agenda.awaitsCreation(), false);
});

test('what befalls such a node is looked at all the same', () => {
  const agenda = open('a');
  agenda.synced('a', NEVER, 'creation');
  agenda.addNode('a');
  assert.deepEqual(agenda.due(measure, false, 0), ['a']);
  agenda.synced('a', 50, 'creation');
  assert.deepEqual(agenda.due(measure, false, 49), []);
  assert.deepEqual(agenda.due(measure, false, 50), ['a']);
});

test('a node of which nobody can say when it changes is looked at with each pass', () => {
  const agenda = open('a');
  agenda.synced('a', NEVER, 'each pass');
  assert.deepEqual(agenda.due(measure, false, 0), ['a']);
});
