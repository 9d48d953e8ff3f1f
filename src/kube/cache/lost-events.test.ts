import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../../../test/support/index.ts';
import { KubeError } from '../client/errors.ts';
import { begin, some } from '../testing/reflector.ts';

for (const watchList of [true, false]) {
  const way = watchList ? 'streamed list' : 'paged list';

  test(`${way}: a response that the watch is past without having delivered it makes it list, once`, async (t) => {
    const { api, clock, mirror, reflector } = await begin(t, { watchList }, some);
    const { length } = api.calls;
    const [changed, created] = [api.put('x', 'new', false), api.put('w', 'new', false)];
    api.put('y', 'new', false);
    reflector.accept(changed);
    await clock.advance(1_000);
    assert.deepEqual(api.calls.slice(length), [], 'the watch could still deliver it');
    for (const text of ['2', '3']) {
      api.put('z', text);
      await settle();
      for (const response of [changed, created]) reflector.accept(response);
      await clock.advance(1_000);
    }
    assert.deepEqual(
      ['a/x', 'a/w', 'a/y', 'a/z'].map((key) => mirror.get(key)),
      ['new', 'new', 'new', '3'],
    );
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
