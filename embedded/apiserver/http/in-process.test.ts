import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestCluster } from '../../testing/test-cluster.ts';
import { configMap, createTestServer } from '../testing/index.ts';
import { createRequestHandler } from './in-process.ts';

const handler = () => {
  const { apiServer, clock } = createTestCluster(['node-1']);
  const handle = createRequestHandler(apiServer);
  const { signal } = new AbortController();
  return {
    clock,
    send: async (method: string, path: string, body?: object, contentType = 'application/json') => {
      const headers = new Map([['content-type', contentType]]);
      const response = await handle({ method, path, headers, signal, ...(body && { body: JSON.stringify(body) }) });
      if (response.is !== 'text') throw new Error('it streams');
      return { status: response.status, body: JSON.parse(response.body()) as { message: string; status: object } };
    },
  };
};

const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const daemonSet = (spec: object) => ({
  metadata: { name: 'app' },
  spec: {
    selector: { matchLabels: { app: 'app' } },
    template: { metadata: { labels: { app: 'app' } }, spec: { containers: [{ name: 'app', image: 'app' }] } },
    ...spec,
  },
});

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

  it('refuses what a real one refuses, in its words', async () => {
    const { send } = handler();
    const cases: readonly [spec: object, message: RegExp][] = [
      [{ minReadySeconds: -1 }, /spec\.minReadySeconds: Invalid value: -1: must be greater than or equal to 0/],
      [{ revisionHistoryLimit: -1 }, /spec\.revisionHistoryLimit: Invalid value: -1/],
      [{ selector: { matchLabels: { ':::': 'x' } } }, /spec\.selector\.matchLabels: Invalid value: ":::": name part/],
      [
        { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
        /matchExpressions\[0\]\.values: Required value: must be specified when `operator` is 'In' or 'NotIn'/,
      ],
      [{ updateStrategy: { rollingUpdate: { maxUnavailable: '101%' } } }, /must not be greater than 100%/],
      [{ updateStrategy: { rollingUpdate: { maxUnavailable: -1 } } }, /must be greater than or equal to 0/],
    ];
    for (const [spec, message] of cases) {
      const { status, body } = await send('POST', DAEMON_SETS, daemonSet(spec));
      assert.equal(status, 422, JSON.stringify(spec));
      assert.match(body.message, message);
    }
  });

  it('refuses malformed label selectors, in its words', async () => {
    const { send } = handler();
    for (const [selector, message] of [
      [':::', '<nil>: Invalid value: ":::": name part must consist of'],
      ['a=b:c', 'values[0][a]: Invalid value: "b:c": a valid label must be'],
      ['/a=b', '<nil>: Invalid value: "/a": prefix part must be non-empty'],
      ['a>x', `values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`],
    ] as const) {
      const { status, body } = await send('GET', `/api/v1/pods?labelSelector=${encodeURIComponent(selector)}`);
      assert.equal(status, 400, selector);
      assert.ok(body.message.startsWith(`unable to parse requirement: ${message}`), body.message);
    }
  });

  it('refuses unknown fields of a status as the value of the patch', async () => {
    const { send } = handler();
    await send('POST', DAEMON_SETS, daemonSet({}));
    const strict = `${DAEMON_SETS}/app/status?fieldValidation=Strict`;
    const body = { status: { conditions: [{ type: 'Ready', status: 'True', nope: 1 }] } };
    const refused = await send('PATCH', strict, body, 'application/strategic-merge-patch+json');
    assert.deepEqual(
      [refused.status, refused.body.message],
      [
        422,
        ' "" is invalid: patch: Invalid value: "map[status:map[conditions:[map[nope:1 status:True type:Ready]]]]": strict decoding error: unknown field "status.conditions[0].nope"',
      ],
    );
    assert.equal((await send('PATCH', strict, body, 'application/merge-patch+json')).status, 422);
  });

  it('shows the version of the kubelets', async () => {
    const { send, clock } = handler();
    clock.run(20_000);
    const { body } = await send('GET', '/api/v1/nodes/node-1');
    assert.equal((body.status as { nodeInfo?: { kubeletVersion: string } }).nodeInfo?.kubeletVersion, 'v1.34.4');
  });
});
