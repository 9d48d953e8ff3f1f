import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controllerOf, toEpochMs } from './metadata.ts';

describe('controllerOf', () => {
  const reference = (name: string, controller?: boolean) => ({
    uid: `uid-${name}`,
    kind: 'DaemonSet',
    name,
    apiVersion: 'apps/v1',
    blockOwnerDeletion: true,
    ...(controller === undefined ? {} : { controller }),
  });

  it('returns the controlling owner, wherever it is in the list', () =>
    assert.deepEqual(
      controllerOf({ metadata: { ownerReferences: [reference('a'), reference('b', false), reference('c', true)] } }),
      { uid: 'uid-c', kind: 'DaemonSet', name: 'c', apiVersion: 'apps/v1' },
    ));

  it('is undefined for objects without a controller', () => {
    for (const object of [{}, { metadata: {} }, { metadata: { ownerReferences: [reference('a')] } }])
      assert.equal(controllerOf(object), undefined);
  });
});

describe('toEpochMs', () => {
  const cases: [string | null | undefined, number][] = [
    ['2026-03-01T10:00:00Z', Date.UTC(2026, 2, 1, 10)],
    ['2026-03-01T10:00:00.250Z', Date.UTC(2026, 2, 1, 10, 0, 0, 250)],
    ['2026-03-01T10:00:00.250999Z', Date.UTC(2026, 2, 1, 10, 0, 0, 250)],
    ['2026-03-01T12:00:00+02:00', Date.UTC(2026, 2, 1, 10)],
    [null, 0],
    [undefined, 0],
    ['', 0],
    ['yesterday', 0],
    ['2026', 0],
    ['2026-13-01T10:00:00Z', 0],
  ];
  for (const [text, expected] of cases)
    it(`reads ${JSON.stringify(text)} as ${expected}`, () => assert.equal(toEpochMs(text), expected));
});
