import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredObject } from '../../types.ts';
import { createStore, type ObjectStore } from './store.ts';

const put = (store: ObjectStore, key: string, collection = 't'): StoredObject =>
  store.put(collection, key, (resourceVersion) => ({
    apiVersion: 'v1',
    kind: 'T',
    metadata: { name: key, uid: key, resourceVersion },
  }));

const keys = (objects: Iterable<StoredObject>): string => [...objects].map(({ metadata }) => metadata.name).join(' ');

describe('the store', () => {
  it('numbers the commits of all collections in one sequence', () => {
    const store = createStore(10);
    assert.deepEqual(
      [put(store, 'a'), put(store, 'b', 'other'), put(store, 'a')].map(({ metadata }) => metadata.resourceVersion),
      ['1', '2', '3'],
    );
  });

  it('lists in key order and by prefix', () => {
    const store = createStore(10);
    for (const key of ['b/2', 'a/1', 'b-c/1', 'b/10', 'c/1']) put(store, key);
    assert.equal(keys(store.list('t', '')), 'a/1 b-c/1 b/10 b/2 c/1');
    assert.equal(keys(store.list('t', 'b/')), 'b/10 b/2');
    assert.equal(keys(store.list('none', 'b/')), '');
  });

  it('keeps snapshots unchanged', () => {
    const store = createStore(10);
    for (const key of ['a', 'b', 'c']) put(store, key);
    const snapshot = store.snapshot('t');
    store.remove('t', 'b', () => put(store, 'gone', 'other'));
    put(store, 'bb');
    assert.deepEqual(
      [...snapshot.scan('', 'a')].map(([key]) => key),
      ['b', 'c'],
    );
  });

  it("returns exactly the changes after any version that isn't compacted", () => {
    const store = createStore(100);
    for (let index = 0; index < 30; index += 1) put(store, `k${index}`, index % 3 === 0 ? 'other' : 't');
    const all = store.since('t', 0) ?? [];
    for (let from = 0; from <= store.version; from += 1)
      assert.deepEqual(
        store.since('t', from)?.map(({ version }) => version),
        all.map(({ version }) => version).filter((version) => version > from),
      );
  });

  it('keeps at least its history, and reports compacted versions', () => {
    const store = createStore(3);
    for (let index = 0; index < 20; index += 1) put(store, 'k');
    assert.equal(store.since('t', 1), undefined);
    assert.deepEqual(
      store.since('t', 17)?.map(({ version }) => version),
      [18, 19, 20],
    );
    store.compact();
    assert.equal(store.since('t', 19), undefined);
    assert.deepEqual(store.since('t', 20), []);
  });
});
