import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestCluster } from '../../testing/test-cluster.ts';
import { configMap, createTestServer } from '../testing/index.ts';
import { createRequestHandler } from './in-process.ts';

const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';

describe('the API server without a connection', () => {
  it('sends a bookmark two seconds before a watch ends', async () => {
    const { apiServer, clock } = createTestServer();
    const handle = createRequestHandler(apiServer);
    const types = async (query: string): Promise<string[]> => {
      const path = `/api/v1/configmaps?watch=1&resourceVersion=0&fieldSelector=metadata.name=none&${query}`;
      const { signal } = new AbortController();
      const response = await handle({ method: 'GET', path, headers: new Map(), signal });
      if (response.is !== 'stream') throw new Error('it does not stream');
      const lines: string[] = [];
      const begun = clock.now();
      const done = response.run((line) => {
        const { type, object } = JSON.parse(line.text()) as {
          type: string;
          object: { metadata: { annotations?: object } };
        };
        lines.push(
          `${type}${object.metadata.annotations ? ' of the initial events' : ''} after ${clock.now() - begun} ms`,
        );
      });
      const body = JSON.stringify(configMap(`other-${query}`.replaceAll(/\W/g, '-').toLowerCase()));
      await handle({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', headers: new Map(), body, signal });
      await clock.advance(10_000);
      await done;
      return lines;
    };
    const first = 'BOOKMARK of the initial events after 0 ms';
    assert.deepEqual(await types('allowWatchBookmarks=true&timeoutSeconds=10'), [first, 'BOOKMARK after 8000 ms']);
    assert.deepEqual(await types('allowWatchBookmarks=true&timeoutSeconds=1'), [first]);
    assert.deepEqual(await types('timeoutSeconds=10'), []);
  });

  it('hands over what its texts say, not more', async () => {
    const { apiServer, clock, createDaemonSet, offline } = createTestCluster();
    const handle = createRequestHandler(apiServer);
    const stop = new AbortController();
    const get = (path: string) => handle({ method: 'GET', path, headers: new Map(), signal: stop.signal });
    const watched: string[] = [];
    for (const plural of ['pods', 'nodes', 'events']) {
      const response = await get(`/api/v1/${plural}?watch=1&allowWatchBookmarks=true`);
      if (response.is !== 'stream') throw new Error('it does not stream');
      void response.run(({ event, text }) => {
        watched.push(`${plural} ${event.type}`);
        assert.deepEqual(event, JSON.parse(text()));
      });
    }
    createDaemonSet();
    clock.run(5_000);
    offline('node-1');
    await clock.advance(70_000);
    for (const path of ['/api/v1/pods', '/api/v1/nodes/node-1', '/api/v1/namespaces/none', DAEMON_SETS]) {
      const response = await get(path);
      if (response.is !== 'text') throw new Error('it streams');
      assert.deepEqual(response.value, JSON.parse(response.body()), path);
    }
    stop.abort();
    assert.ok(!watched.some((what) => what.endsWith('ERROR')));
    for (const what of ['pods ADDED', 'pods MODIFIED', 'nodes MODIFIED', 'nodes BOOKMARK', 'events ADDED'])
      assert.ok(watched.includes(what), `${what} in ${watched.join(', ')}`);
  });
});
