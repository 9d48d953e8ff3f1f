import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from 'kubernetes-types/core/v1.d.ts';
import { settle } from '../../../test/support/index.ts';
import { KubeError } from '../client/errors.ts';
import type { CacheFailure } from '../client/types.ts';
import { begin, some } from '../testing/reflector.ts';

/** A projection that throws for objects with the text `bad`, until it is mended. */
const brittle = () => {
  const state = { broken: true };
  const project = (object: ConfigMap): string | undefined => {
    if (state.broken && object.data?.text?.startsWith('bad')) throw new Error('cannot project');
    return object.data?.text;
  };
  return { state, project };
};
const keysOf = (failures: readonly CacheFailure[]): string[] => failures.map(({ key }) => key).toSorted();

test('an object whose projection throws stays as it was, and is a failure until it changes or the next try succeeds', async (t) => {
  const { state, project } = brittle();
  const { api, reflector, clock, logged, take } = await begin(t, { project }, some);
  let changes = 0;
  reflector.addHandler({ failuresChanged: () => void (changes += 1) });
  take();
  api.put('x', 'bad');
  api.put('y', 'bad');
  api.put('n', 'bad');
  await settle();
  assert.deepEqual(take(), [], 'nothing is removed');
  assert.equal(reflector.store.get('a/x'), '1');
  assert.deepEqual(keysOf(reflector.failures), ['a/n', 'a/x', 'a/y']);
  assert.match(String(reflector.failures[0]?.error), /cannot project/);
  assert.equal(changes, 3);
  api.put('x', '2');
  await settle();
  assert.deepEqual(take(), ['~x=2']);
  api.remove('n');
  await settle();
  assert.deepEqual(keysOf(reflector.failures), ['a/y']);
  await clock.advance(600_000);
  assert.deepEqual(take(), [], 'a try that fails again changes nothing');
  assert.equal(changes, 5);
  assert.equal(logged.filter((line) => line.includes('a/y')).length, 1, 'and is not logged again');
  state.broken = false;
  await clock.advance(30_000);
  assert.deepEqual(take(), ['~y=bad']);
  assert.deepEqual(reflector.failures, []);
});

for (const watchList of [true, false])
  test(`a ${watchList ? 'streamed' : 'paged'} list with objects whose projection throws syncs, and names them`, async (t) => {
    const { state, project } = brittle();
    const { api, reflector, clock, take } = await begin(t, { project, watchList }, (fresh) => {
      some(fresh);
      fresh.put('n', 'bad');
    });
    assert.deepEqual(take(), ['+x=1', '+y=1', '+z=1', 'synced']);
    assert.deepEqual(keysOf(reflector.failures), ['a/n']);
    api.cut(new KubeError('Gone', 'too old', { status: 410 }));
    api.put('x', 'bad');
    api.put('y', '2');
    api.remove('n');
    api.forgetHistory();
    await settle();
    assert.deepEqual(take(), ['~y=2', 'synced'], 'what exists is not removed');
    assert.deepEqual(keysOf(reflector.failures), ['a/x']);
    state.broken = false;
    await clock.advance(60_000);
    assert.deepEqual(take(), ['~x=bad']);
    assert.deepEqual(reflector.failures, []);
  });

test('a handler that throws gets the object again until it succeeds, and the others get it once', async (t) => {
  const { api, reflector, clock, take } = await begin(t, {}, some);
  const got: string[] = [];
  let broken = true;
  reflector.addHandler({
    upsert(key, value, previous) {
      got.push(`${key}=${value} after ${previous ?? 'nothing'}`);
      if (broken && value === '2') throw new Error('handler');
    },
    remove(key, previous) {
      got.push(`${key} removed, was ${previous}`);
      if (broken) throw new Error('handler');
    },
  });
  take();
  got.length = 0;
  api.put('x', '2');
  api.remove('z');
  await settle();
  assert.deepEqual(take(), ['~x=2', '-z']);
  assert.deepEqual(got.splice(0), ['a/x=2 after 1', 'a/z removed, was 1']);
  assert.deepEqual(keysOf(reflector.failures), ['a/x', 'a/z']);
  // It does not know what came before, so nobody may take the object for unchanged.
  api.put('x', '3');
  await settle();
  assert.deepEqual(take(), ['~x=3']);
  assert.deepEqual(got.splice(0), ['a/x=3 after nothing']);
  assert.deepEqual(keysOf(reflector.failures), ['a/z']);
  broken = false;
  await clock.advance(60_000);
  assert.deepEqual(take(), []);
  assert.deepEqual(got, ['a/z removed, was 1']);
  assert.deepEqual(reflector.failures, []);
});

test('a handler that is removed leaves no failure, and one that is added late receives the state', async (t) => {
  const { reflector, clock } = await begin(t, {}, some);
  const off = reflector.addHandler({
    upsert: () => {
      throw new Error('handler');
    },
  });
  assert.equal(reflector.failures.length, 3);
  off();
  await clock.advance(60_000);
  assert.deepEqual(reflector.failures, []);
  const late: string[] = [];
  reflector.addHandler({
    upsert: (key, value, previous) => void late.push(`${key}=${value}${previous ?? ''}`),
    synced: () => void late.push('synced'),
  });
  assert.deepEqual(late, ['a/x=1', 'a/y=1', 'a/z=1', 'synced']);
});
