import assert from 'node:assert/strict';
import { it } from 'node:test';
import { controllerOf } from './owner.ts';

const reference = (name: string, controller?: boolean) => ({
  uid: `uid-${name}`,
  kind: 'DaemonSet',
  name,
  apiVersion: 'apps/v1',
  blockOwnerDeletion: true,
  ...(controller === undefined ? {} : { controller }),
});

it('is the owner that controls, wherever it stands in the list', () =>
  assert.deepEqual(
    controllerOf({ metadata: { ownerReferences: [reference('a'), reference('b', false), reference('c', true)] } }),
    { uid: 'uid-c', kind: 'DaemonSet', name: 'c', apiVersion: 'apps/v1' },
  ));

it('is undefined for objects that nobody controls', () => {
  for (const object of [{}, { metadata: {} }, { metadata: { ownerReferences: [reference('a')] } }])
    assert.equal(controllerOf(object), undefined);
});
