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
  const dirtyNodes = createDirtyNodes({ nodes: emptyStore, pods: emptyStore, view });
  for (const name of names) dirtyNodes.addNode(name);
  return dirtyNodes;
};

test('a node that only lacks a pod is not due until one may be created', () => {
  const dirtyNodes = open('a', 'b');
  assert.deepEqual(dirtyNodes.due(measure, true, 0), ['a', 'b']);
  dirtyNodes.synced('a', NEVER, 'creation');
  dirtyNodes.synced('b', NEVER, undefined);
  assert.equal(dirtyNodes.hasVacantNodes(), true);
  assert.deepEqual(dirtyNodes.due(measure, false, 0), []);
  assert.deepEqual(dirtyNodes.due(measure, true, 0), ['a']);
  dirtyNodes.synced('a', NEVER, undefined);
  assert.equal(dirtyNodes.hasVacantNodes(), false);
});

test('an event makes such a node due', () => {
  const dirtyNodes = open('a');
  dirtyNodes.synced('a', NEVER, 'creation');
  dirtyNodes.addNode('a');
  assert.deepEqual(dirtyNodes.due(measure, false, 0), ['a']);
  dirtyNodes.synced('a', 50, 'creation');
  assert.deepEqual(dirtyNodes.due(measure, false, 49), []);
  assert.deepEqual(dirtyNodes.due(measure, false, 50), ['a']);
});

test('a node that may change at any time is due at each reconcile', () => {
  const dirtyNodes = open('a');
  dirtyNodes.synced('a', NEVER, 'next reconcile');
  assert.deepEqual(dirtyNodes.due(measure, false, 0), ['a']);
});
