import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import {
  eventually,
  type Request,
  type Response,
  sendJson,
  startJson,
  writeText,
} from '../../../test/support/index.ts';
import { serve, testPods } from '../testing/index.ts';
import { isKubeError, type KubeErrorCode } from './errors.ts';
import type { WatchEvent } from './types.ts';

const object = (name: string, resourceVersion = '5') => ({
  metadata: { name, namespace: 'a', uid: name, resourceVersion },
});
const line = (type: string, body: unknown) => `${JSON.stringify({ type, object: body })}\n`;

const collect = async (stream: AsyncIterable<WatchEvent<Pod>>) => {
  const events: WatchEvent<Pod>[] = [];
  try {
    for await (const event of stream) events.push(event);
    return { events, code: undefined };
  } catch (error) {
    assert.ok(isKubeError(error), String(error));
    return { events, code: error.code };
  }
};

test('delivers events whole and in order for any chunk boundaries, even inside characters', async (t) => {
  const bytes = Buffer.from(
    line('ADDED', { ...object('x'), text: 'ü€😀' }) +
      line('BOOKMARK', { metadata: { resourceVersion: '9' } }) +
      line('DELETED', object('x', '10')),
  );
  const { client } = await serve(t, (_request, response) => {
    startJson(response);
    let at = 0;
    const next = (): void => {
      if (at >= bytes.length) return void response.end();
      writeText(response, bytes.subarray(at, at + 1));
      at += 1;
      setImmediate(next);
    };
    next();
  });
  const { events, code } = await collect(client.watch(testPods));
  assert.equal(code, undefined);
  assert.deepEqual(events, [
    { type: 'ADDED', object: { ...object('x'), text: 'ü€😀' } },
    { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: false },
    { type: 'DELETED', object: object('x', '10') },
  ]);
});

const faults: [string, (response: Response, request: Request) => void, KubeErrorCode | undefined, number][] = [
  ['the server ends the stream', (response) => void response.end(line('ADDED', object('x'))), undefined, 1],
  [
    'the stream ends inside a line',
    (response) => void response.end(line('ADDED', object('x')) + '{"type":"ADD'),
    'Transport',
    1,
  ],
  [
    'the connection is reset',
    (response, request) => {
      writeText(response, line('ADDED', object('x')));
      setTimeout(() => request.socket.destroy(), 20);
    },
    'Transport',
    1,
  ],
  [
    'an ERROR event says 410',
    (response) => {
      writeText(
        response,
        line('ADDED', object('x')) +
          line('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }),
      );
    },
    'Gone',
    1,
  ],
  [
    'an ERROR event says 429',
    (response) => writeText(response, line('ERROR', { kind: 'Status', code: 429 })),
    'TooManyRequests',
    0,
  ],
  ['a line is no JSON', (response) => writeText(response, 'oops\n'), 'Malformed', 0],
  ['a line is no UTF-8', (response) => writeText(response, Buffer.from([0xff, 0x0a])), 'Malformed', 0],
  ['a line never ends', (response) => writeText(response, 'x'.repeat(5000)), 'Malformed', 0],
  [
    'an object has no version',
    (response) => writeText(response, line('ADDED', { metadata: { name: 'x' } })),
    'Malformed',
    0,
  ],
  [
    'an object has no name',
    (response) => writeText(response, line('ADDED', { metadata: { resourceVersion: '1' } })),
    'Malformed',
    0,
  ],
  ['an event has no object', (response) => writeText(response, '{"type":"ADDED"}\n'), 'Malformed', 0],
  ['an event is of an unknown type', (response) => writeText(response, line('SURPRISE', object('x'))), 'Malformed', 0],
  ['nothing more arrives', (response) => writeText(response, line('ADDED', object('x'))), 'Timeout', 1],
];
for (const [what, respond, code, count] of faults) {
  test(`${what}: ${code ?? 'the watch ends'} after ${count} events`, async (t) => {
    const { client, server } = await serve(
      t,
      (request, response) => {
        startJson(response);
        respond(response, request);
      },
      // Only a silent watch must end by that: a busy machine takes long for the others.
      { maxLineBytes: 4096, watchIdleMs: code === 'Timeout' ? 150 : 60_000 },
    );
    const outcome = await collect(client.watch(testPods));
    assert.deepEqual([outcome.code, outcome.events.length], [code, count]);
    await eventually('the connection is given back or closed', () =>
      [...server.sockets].every((socket) => socket.bytesWritten > 0),
    );
  });
}

test('refusals and responses of another content type are errors, not events', async (t) => {
  let answer: (response: Response) => void = () => undefined;
  const { client } = await serve(t, (_request, response) => answer(response), { timeoutMs: 200 });
  answer = (response) => sendJson(response, { code: 410, reason: 'Expired' }, 410);
  assert.equal((await collect(client.watch(testPods))).code, 'Gone');
  answer = (response) => sendJson(response, {}, 429, { 'retry-after': '3' });
  assert.equal((await collect(client.watch(testPods))).code, 'TooManyRequests');
  answer = (response) => sendJson(response, {}, 500);
  assert.equal((await collect(client.watch(testPods))).code, 'InternalError');
  answer = (response) => sendJson(response, {}, 200, { 'content-type': 'text/html' });
  assert.equal((await collect(client.watch(testPods))).code, 'Malformed');
  answer = () => undefined;
  assert.equal((await collect(client.watch(testPods))).code, 'Timeout', 'no head within the deadline');
});

test('requests bookmarks, a timeout of five to ten minutes, and a streamed list on demand', async (t) => {
  const { client, server } = await serve(t, (_request, response) => response.end());
  await collect(client.watch(testPods, { namespace: 'a', labelSelector: 'x=y', resourceVersion: '7' }));
  await collect(client.watch(testPods, { sendInitialEvents: true }));
  const [plain = '', streamed = ''] = server.requests.map((request) => request.split(' ')[1]);
  const query = new URL(plain, 'http://x').searchParams;
  assert.equal(new URL(plain, 'http://x').pathname, '/api/v1/namespaces/a/pods');
  assert.deepEqual(Object.fromEntries(query), {
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: '450',
    labelSelector: 'x=y',
    resourceVersion: '7',
  });
  assert.match(streamed, /sendInitialEvents=true&resourceVersionMatch=NotOlderThan/);
});

test('a slow reader applies back-pressure to the server and loses nothing', async (t) => {
  const total = 2000;
  const filler = 'x'.repeat(10_000);
  let written = 0;
  const { client } = await serve(t, (_request, response) => {
    startJson(response);
    const body = response as { write(text: string): boolean; once(event: 'drain', then: () => void): unknown };
    const push = (): void => {
      while (written < total) {
        written += 1;
        if (!body.write(line('ADDED', { ...object(`p${written}`), filler }))) return void body.once('drain', push);
      }
      response.end();
    };
    push();
  });
  let seen = 0;
  for await (const _ of client.watch(testPods)) {
    seen += 1;
    if (seen === 1) {
      let before = -1;
      let calm = 0;
      const isHeldBack = (): boolean => {
        calm = written === before ? calm + 1 : 0;
        before = written;
        return calm >= 5;
      };
      await eventually('the server writes nothing more', isHeldBack);
      assert.ok(written < total, `the server wrote ${written} of ${total} while the reader waited`);
    }
  }
  assert.equal(seen, total);
});

test('leaving the loop closes the stream', async (t) => {
  let closed = false;
  const { client } = await serve(t, (_request, response) => {
    response.on('close', () => {
      closed = true;
    });
    startJson(response);
    writeText(response, line('ADDED', object('x')));
  });
  for await (const _ of client.watch(testPods)) break;
  await eventually('the server sees it', () => closed);
});
