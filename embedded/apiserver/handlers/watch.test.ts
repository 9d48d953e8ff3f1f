import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stateOf } from '../server.ts';
import { configMap, configMaps, createTestServer } from '../testing/index.ts';
import { type OpenWatch, openWatch, type WatchMessage, type WatchRequest } from './watch.ts';

const filled = () => {
  const { apiServer } = createTestServer();
  const state = stateOf(apiServer);
  const received: string[] = [];
  const receive = (message: WatchMessage): void => {
    if (message.type === 'BOOKMARK') received.push(`BOOKMARK ${message.initialEventsEnd}`);
    else if (message.type === 'ERROR') received.push(`ERROR ${message.error.reason}`);
    else received.push(`${message.type} ${message.object.metadata.name}`);
  };
  const open = (request: WatchRequest): OpenWatch =>
    openWatch(state, state.registry.resolve(configMaps), request, {
      message: receive,
      end: () => void received.push('END'),
    });
  const create = (name: string, labels: Record<string, string> = {}): void =>
    void apiServer.create<object>(configMaps, configMap(name, labels));
  return { apiServer, state, received, open, create };
};

describe('watches', () => {
  it('start with the current state unless they have a resourceVersion', () => {
    const { apiServer, received, open, create } = filled();
    create('a');
    open({});
    assert.deepEqual(received, ['ADDED a']);
    received.length = 0;
    open({ resourceVersion: String(apiServer.resourceVersion) });
    assert.deepEqual(received, []);
  });

  it('mark the end of the initial events if bookmarks are requested', () => {
    const { received, open, create } = filled();
    create('a');
    open({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', bookmarks: true });
    assert.deepEqual(received.splice(0), ['ADDED a', 'BOOKMARK true']);
    // The server turns sendInitialEvents on by itself where a watch starts with the current objects.
    open({ resourceVersion: '0', bookmarks: true });
    assert.deepEqual(received.splice(0), ['ADDED a', 'BOOKMARK true']);
    open({ resourceVersion: '0' });
    assert.deepEqual(received, ['ADDED a']);
    assert.throws(() => open({ sendInitialEvents: true }), /requires setting resourceVersionMatch to NotOlderThan/);
  });

  it('deliver each change once, also when opened during its delivery', () => {
    const { apiServer, received, open, create } = filled();
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
      received.filter((each) => each.endsWith(' a') || each.endsWith(' b')),
      ['ADDED a', 'ADDED b'],
    );
  });

  it('send nothing once closed', () => {
    const { received, open, create } = filled();
    const watch = open({ bookmarks: true });
    received.length = 0;
    watch.close();
    watch.bookmark();
    create('a');
    assert.deepEqual(received, []);
  });

  it('send bookmarks once something has changed since they began', () => {
    const { apiServer, received, open, create } = filled();
    const watch = open({ bookmarks: true, labelSelector: 'shown', resourceVersion: String(apiServer.resourceVersion) });
    watch.bookmark();
    create('a');
    watch.bookmark();
    assert.deepEqual(received, ['BOOKMARK false']);
  });
});
