import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isKubeError } from '../../../src/kube/index.ts';
import { stateOf } from '../server.ts';
import { configMap, configMaps, createTestServer } from '../testing/index.ts';
import { listPage } from './list.ts';

const filled = () => {
  const { apiServer } = createTestServer();
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    apiServer.create<object>(configMaps, configMap(name, { odd: String('ace'.includes(name)) }));
  const state = stateOf(apiServer);
  const kind = state.registry.resolve(configMaps);
  const page = (options: Parameters<typeof listPage>[2]) => listPage(state, kind, options);
  return { apiServer, state, page };
};

const names = (items: readonly { metadata: { name: string } }[]): string =>
  items.map(({ metadata }) => metadata.name).join('');

describe('paginated lists', () => {
  it('show the state of the first page on all pages', () => {
    const { apiServer, page } = filled();
    const first = page({ limit: 2 });
    assert.deepEqual([names(first.items), first.remaining], ['ab', 3]);
    apiServer.delete(configMaps, { namespace: 'default', name: 'c' });
    apiServer.create<object>(configMaps, configMap('cc'));
    const second = page({ limit: 2, continue: first.next ?? '' });
    const third = page({ limit: 2, continue: second.next ?? '' });
    assert.equal(names([...second.items, ...third.items]), 'cde');
    assert.equal(third.next, undefined);
    assert.equal(third.version, first.version);
  });

  it('answer 410 after compaction', () => {
    const { apiServer, state, page } = filled();
    const first = page({ limit: 2 });
    apiServer.create<object>(configMaps, configMap('z'));
    state.store.compact();
    assert.throws(
      () => page({ limit: 9, continue: first.next ?? '' }),
      (error) => isKubeError(error, 'Gone') && error.status === 410,
    );
  });

  it('reject future versions and invalid tokens', () => {
    const { page } = filled();
    assert.throws(() => page({ resourceVersion: '999' }), /Too large resource version: 999/);
    assert.throws(() => page({ continue: 'nonsense' }), /invalid continue token/);
    assert.throws(() => page({ resourceVersionMatch: 'Exact' }), /forbidden unless resourceVersion is provided/);
  });
});
