import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stateOf } from '../server.ts';
import { configMap, createTestServer } from '../testing/index.ts';
import { type OpenWatch, openWatch, type WatchMessage, type WatchRequest } from './watch.ts';

const resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };

const filled = () => {
  const { apiServer } = createTestServer();
  const state = stateOf(apiServer);
  const told: string[] = [];
  const tell = (message: WatchMessage): void => {
    if (message.type === 'BOOKMARK') told.push(`BOOKMARK ${message.initialEventsEnd}`);
    else if (message.type === 'ERROR') told.push(`ERROR ${message.error.reason}`);
    else told.push(`${message.type} ${message.object.metadata.name}`);
  };
  const open = (request: WatchRequest): OpenWatch =>
    openWatch(state, state.registry.resolve(resource), request, { message: tell, end: () => void told.push('END') });
  const create = (name: string, labels: Record<string, string> = {}): void =>
    void apiServer.create<object>(resource, configMap(name, labels));
  return { apiServer, state, told, open, create };
};

describe('watches', () => {
  it('start with the current state unless they have a resourceVersion', () => {
    const { apiServer, told, open, create } = filled();
    create('a');
    open({});
    assert.deepEqual(told, ['ADDED a']);
    told.length = 0;
    open({ resourceVersion: String(apiServer.resourceVersion) });
    assert.deepEqual(told, []);
  });

  it('mark the end of the initial events if bookmarks are requested', () => {
    const { told, open, create } = filled();
    create('a');
    open({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', bookmarks: true });
    assert.deepEqual(told, ['ADDED a', 'BOOKMARK true']);
    assert.throws(() => open({ sendInitialEvents: true }), /requires setting resourceVersionMatch to NotOlderThan/);
  });

  it('deliver each change once, also when opened during its delivery', () => {
    const { apiServer, told, open, create } = filled();
    const begin = String(apiServer.resourceVersion);
    let watch: OpenWatch | undefined;
    apiServer.subscribe(() => {
      if (watch) return;
      // The second change is stored, but not delivered yet, when the watch asks for missed events.
      watch = { bookmark: () => undefined, close: () => undefined };
      create('b');
      watch = open({ resourceVersion: begin });
    });
    create('a');
    assert.deepEqual(
      told.filter((each) => each.endsWith(' a') || each.endsWith(' b')),
      ['ADDED a', 'ADDED b'],
    );
  });

  it('report objects that start and stop matching the selector', () => {
    const { apiServer, told, open, create } = filled();
    open({ labelSelector: 'in=yes' });
    create('a');
    const label = (value: string | null) =>
      apiServer.patch(
        resource,
        { namespace: 'default', name: 'a' },
        { metadata: { labels: { in: value } } },
        { type: 'merge' },
      );
    label('yes');
    label(null);
    apiServer.delete(resource, { namespace: 'default', name: 'a' });
    assert.deepEqual(told, ['ADDED a', 'DELETED a']);
  });

  it('report a compacted version, and end', () => {
    const { state, told, open, create } = filled();
    create('a');
    state.store.compact();
    open({ resourceVersion: '1' });
    assert.deepEqual(told, ['ERROR Expired', 'END']);
  });

  it('send nothing once closed', () => {
    const { told, open, create } = filled();
    const watch = open({ bookmarks: true });
    watch.close();
    watch.bookmark();
    create('a');
    assert.deepEqual(told, []);
  });
});
