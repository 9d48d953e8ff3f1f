import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { raw, sendRaw } from './testing/raw-http.ts';
import { startServer } from './testing/start.ts';

const me = process.getuid?.() ?? -1;

const upgradePath = '/openyurt.io/v1/namespaces/shop/pods/till-x7k2p/upgrade';
const decisionPath = '/edgeset.io/v1/updates/shop/till/decision';

describe('the YurtHub routes', () => {
  it('list the pods with the age of the cache', async (t) => {
    const { url } = await startServer(t);
    const got = await fetch(`${url}/pods`);
    assert.equal(got.status, 200);
    assert.equal(got.headers.get('content-type'), 'application/json');
    assert.equal(got.headers.get('x-edgeset-cache-age'), '2');
    assert.deepEqual(await got.json(), {
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '42' },
      items: [{ kind: 'Pod', metadata: { name: 'till-x7k2p', namespace: 'shop' } }],
    });
  });

  it('start updates, queue them, and request images', async (t) => {
    const { url, backend } = await startServer(t);
    const post = async (path: string): Promise<[number, string | null, string]> => {
      const answer = await fetch(url + path, { method: 'POST' });
      return [answer.status, answer.headers.get('content-type'), await answer.text()];
    };
    const type = 'text/plain; charset=utf-8';
    assert.deepEqual(await post(upgradePath), [200, type, 'Start updating pod shop/till-x7k2p']);
    assert.deepEqual(await post(`${upgradePath}?queue=true`), [202, type, 'Queued updating pod shop/till-x7k2p']);
    const pull = upgradePath.replace('upgrade', 'imagepull');
    assert.deepEqual(await post(pull), [200, type, 'Image pre-pull requested for pod shop/till-x7k2p']);
    assert.deepEqual(
      backend.operations.map((act) => act.split(' by ')[1]),
      Array.from({ length: 3 }, () => `uid:${me}`),
    );
    assert.equal((await post(`${upgradePath}?queue=yes`))[0], 400);
    assert.equal((await post(`${upgradePath}?queue=true&queue=false`))[0], 400);
  });

  it("return the agent's responses", async (t) => {
    const { url, backend } = await startServer(t);
    backend.next.upgrade = { status: 403, text: 'pod is deleting, can not be updated' };
    const answer = await fetch(url + upgradePath, { method: 'POST' });
    assert.equal(answer.status, 403);
    assert.equal(await answer.text(), 'pod is deleting, can not be updated');
  });
});

describe('methods', () => {
  it('HEAD is GET without a body', async (t) => {
    const { url } = await startServer(t);
    const [got, head] = [await fetch(`${url}/pods`), await fetch(`${url}/pods`, { method: 'HEAD' })];
    assert.equal(head.headers.get('content-length'), got.headers.get('content-length'));
    assert.equal(await head.text(), '');
  });
  it('other methods are refused with the allowed ones, which OPTIONS lists', async (t) => {
    const { url } = await startServer(t);
    for (const [path, method, allow] of [
      ['/pods', 'POST', 'GET, HEAD, OPTIONS'],
      [upgradePath, 'GET', 'POST, OPTIONS'],
      [decisionPath, 'PUT', 'POST, OPTIONS'],
      ['/', 'POST', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const refused = await fetch(url + path, { method });
      assert.equal(refused.status, 405, path);
      assert.equal(refused.headers.get('allow'), allow);
      const told = await fetch(url + path, { method: 'OPTIONS' });
      assert.equal(told.status, 204);
      assert.equal(told.headers.get('allow'), allow);
      assert.ok(![...told.headers.keys()].some((name) => name.startsWith('access-control')));
    }
  });
  it('nothing in a request makes it one of another method', async (t) => {
    const { address, backend } = await startServer(t);
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'MKCOL'])
      for (const target of [`${upgradePath}?_method=POST`, decisionPath]) {
        const [answer] = await raw(address, `${method} ${target}`, ['X-HTTP-Method-Override: POST']);
        assert.ok((answer?.status ?? 0) >= 400, `${method} ${target} ${answer?.status}`);
      }
    assert.deepEqual(backend.operations, []);
  });
  it('unknown paths are 404 with a Status', async (t) => {
    const { url } = await startServer(t);
    for (const path of ['/Pods', '/pods/', '/edgeset.io/v1', '/edgeset.io/v1/toString', '/__proto__']) {
      const answer = await fetch(url + path);
      assert.ok([400, 404].includes(answer.status), `${path} ${answer.status}`);
      const status = (await answer.json()) as { kind: string; code: number };
      assert.deepEqual([status.kind, status.code], ['Status', answer.status]);
    }
  });
});

describe('decisions', () => {
  const decide = (url: string, body: unknown, type = 'application/json'): Promise<Response> =>
    fetch(url + decisionPath, { method: 'POST', headers: { 'content-type': type }, body: JSON.stringify(body) });

  it('must be small, valid JSON', async (t) => {
    const { url, backend } = await startServer(t);
    const good = { revision: '7d9c', decision: 'reject' };
    assert.equal((await decide(url, good)).status, 201);
    assert.equal((await decide(url, good, 'application/json; charset=utf-8')).status, 201);
    assert.equal((await decide(url, { revision: '7d9c', decision: 'approve' })).status, 202);
    const acts = backend.operations.length;
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonp',
      '',
    ])
      assert.equal((await decide(url, good, type)).status, 415, type);
    assert.equal((await decide(url, { ...good, more: 'x'.repeat(5000) })).status, 413);
    assert.equal((await decide(url, [good])).status, 400);
    for (const bad of [
      {},
      { ...good, decision: 'maybe' },
      { ...good, revision: 7 },
      { ...good, image: 'evil' },
      { ...good, when: { type: 'now', image: 'evil' } },
      { ...good, choice: 'approve' },
      { ...good, __proto__x: 1 },
    ])
      assert.equal((await decide(url, bad)).status, 422, JSON.stringify(bad));
    assert.equal(backend.operations.length, acts);
  });

  it('in chunks beyond the limit are refused', async (t) => {
    const { address, backend } = await startServer(t);
    const chunk = `800\r\n${'x'.repeat(0x800)}\r\n`;
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const [answer] = await raw(address, `POST ${decisionPath}`, headers, `${chunk.repeat(4)}0\r\n\r\n`);
    assert.equal(answer?.status, 413);
    assert.deepEqual(backend.operations, []);
  });

  it('reauthorize the caller before they are saved', async (t) => {
    const { url, backend } = await startServer(t);
    let asked = 0;
    backend.beforeReauthorize = () => {
      asked += 1;
      return Promise.resolve();
    };
    await decide(url, { revision: '7d9c', decision: 'reject' });
    assert.equal(asked, 1);
  });
});

describe('time and size', () => {
  const quick = { headersMs: 300, requestMs: 600, idleMs: 5_000, keepAliveMs: 300 };
  it('slow heads, slow bodies and silence time out', async (t) => {
    const { address, backend } = await startServer(t, { limits: quick });
    const head = `POST ${decisionPath} HTTP/1.1\r\nHost: ${address}\r\n`;
    const slow = async (bytes: string): Promise<number | undefined> => (await sendRaw(address, bytes))[0]?.status;
    assert.equal(await slow(head), 408);
    assert.equal(await slow(`${head}Content-Type: application/json\r\nContent-Length: 40\r\n\r\n{`), 408);
    assert.ok([408, undefined].includes(await slow('')));
    assert.deepEqual(backend.operations, []);
  });
  it('heads that are too large are refused', async (t) => {
    const { address } = await startServer(t);
    const [answer] = await raw(address, 'GET /pods', [`X: ${'x'.repeat(9000)}`]);
    assert.equal(answer?.status, 431);
    const many = Array.from({ length: 1500 }, (_, at) => `X${at}: 1`);
    assert.equal((await raw(address, 'GET /pods', many))[0]?.status, 431);
  });
  it('large bodies are refused before the act, also without a stated length, with a response that arrives', async (t) => {
    const { url, backend } = await startServer(t);
    const large = 'x'.repeat(200_000);
    for (const path of [decisionPath, upgradePath])
      for (const body of [large, new Blob([large]).stream()]) {
        const headers = { 'content-type': 'application/json' };
        const request = { method: 'POST', headers, body, duplex: 'half' as const };
        assert.equal((await fetch(url + path, request)).status, 413, path);
      }
    assert.deepEqual(backend.operations, []);
  });
  it('callers that exceed the rate limit are told when to retry', async (t) => {
    const { url, answers } = await startServer(t, { limits: { ratePerCaller: { perSecond: 1, burst: 3 } } });
    const statuses: number[] = [];
    let last: Response | undefined;
    for (let at = 0; at < 5; at += 1) {
      last = await fetch(`${url}/pods`);
      statuses.push(last.status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
    assert.equal(last?.headers.get('retry-after'), '1');
    assert.deepEqual(answers.at(-1), [429, 'RateLimited']);
  });
});

describe('the page', () => {
  it('is served with a strict policy, and as 304 when unchanged', async (t) => {
    const { url } = await startServer(t);
    const got = await fetch(`${url}/`);
    assert.equal(await got.text(), '<!doctype html><p>page');
    assert.match(got.headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/);
    assert.equal(got.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(got.headers.get('referrer-policy'), 'no-referrer');
    assert.equal(got.headers.get('cross-origin-resource-policy'), 'same-origin');
    assert.equal(got.headers.get('cache-control'), 'no-cache');
    const again = await fetch(`${url}/`, { headers: { 'if-none-match': '"a"' } });
    assert.equal(again.status, 304);
    assert.match((await fetch(`${url}/main-5X3QKJ2A.js`)).headers.get('cache-control') ?? '', /immutable/);
  });
});

describe('events', () => {
  it('send the state at once and after changes, and end when the server stops', async (t) => {
    const { url, backend, server } = await startServer(t, { limits: { heartbeatMs: 50 } });
    const answer = await fetch(`${url}/edgeset.io/v1/events`);
    assert.equal(answer.headers.get('content-type'), 'text/event-stream');
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.ok(reader);
    let text = '';
    const until = async (found: () => boolean): Promise<void> => {
      while (!found()) {
        const { value, done } = await reader.read();
        assert.ok(!done, 'the stream is still open');
        text += value;
      }
    };
    const states = (): string[] => text.split('\n').filter((line) => line.startsWith('data: '));
    await until(() => states().length === 1);
    const state = JSON.parse(states()[0]?.slice(6) ?? '') as { device: { node: string }; updates: unknown[] };
    assert.equal(state.device.node, 'node-1');
    assert.equal(state.updates.length, 2);
    for (let at = 0; at < 10; at += 1) backend.changed();
    await until(() => states().length === 2 && text.includes(': still here'));
    assert.equal(server.streams, 1);
    await server.close();
    assert.equal(server.streams, 0);
    while (!(await reader.read()).done);
    assert.equal(states().length, 2, 'ten changes at once are one event');
  });
  it('are bounded in number', async (t) => {
    const { url, server } = await startServer(t, { limits: { streams: 2 } });
    const open = (): Promise<Response> => fetch(`${url}/edgeset.io/v1/events`);
    const [first, second] = [await open(), await open()];
    assert.equal((await open()).status, 429);
    await first.body?.cancel();
    while (server.streams > 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await open()).status, 200);
    await second.body?.cancel(); // Held until here: one that nobody refers to is ended with the garbage.
  });
});

describe('an internal error', () => {
  it('is a 500 without details, and the server keeps running', async (t) => {
    const { url, backend } = await startServer(t);
    backend.next.fail = new Error('a path full of secrets');
    const answer = await fetch(`${url}/edgeset.io/v1/updates`);
    assert.equal(answer.status, 500);
    assert.ok(!(await answer.text()).includes('secrets'));
    delete backend.next.fail;
    assert.equal((await fetch(`${url}/edgeset.io/v1/updates`)).status, 200);
  });
});
