import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../../../test/support/index.ts';
import { KubeError } from '../client/errors.ts';
import { begin, some } from '../testing/reflector.ts';

for (const watchList of [true, false]) {
  const way = watchList ? 'streamed list' : 'paged list';

  test(`${way}: an event that is known to be lost is found by a list, once the watch is past it`, async (t) => {
    const { api, clock, mirror, reflector } = await begin(t, { watchList }, some);
    const { length } = api.calls;
    const { metadata: { resourceVersion: lost = '' } = {} } = api.put('x', 'new', false);
    reflector.relistIfPast(lost);
    await clock.advance(1_000);
    assert.equal(mirror.get('a/x'), '1', 'the watch could still deliver it');
    for (const text of ['2', '3', '4']) {
      api.put('y', text);
      reflector.relistIfPast(lost);
      await clock.advance(1_000);
    }
    assert.deepEqual([mirror.get('a/x'), mirror.get('a/y')], ['new', '4']);
    assert.deepEqual(api.calls.slice(length), watchList ? ['watch list'] : ['list', 'watch'], 'one list');
  });

  test(`${way}: what a stream missed that fell silent is delivered at once`, async (t) => {
    const { api, clock, take } = await begin(t, { watchList }, some);
    await clock.advance(300_000);
    take();
    const { length } = api.calls;
    api.cut(new KubeError('Timeout', 'nothing received'));
    await settle();
    api.put('x', 'once');
    api.put('x', 'twice');
    api.remove('y');
    await clock.advance(1_000);
    assert.deepEqual(take(), ['-y', '~x=twice', 'synced']);
    assert.deepEqual(api.calls.slice(length), watchList ? ['watch list'] : ['list', 'watch']);
  });
}
