import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  eventually,
  type Request,
  type Response,
  sendJson,
  startJson,
  writeText,
} from '../../../test/support/index.ts';
import { serve, testPods } from '../testing/index.ts';

/** Answers requests when told to. */
const hold = () => {
  const held: { request: Request; response: Response }[] = [];
  const state = { most: 0 };
  return {
    state,
    held,
    handle: (request: Request, response: Response): void => {
      held.push({ request, response });
      state.most = Math.max(state.most, held.length);
    },
    answer: (): void => {
      for (const { response } of held.splice(0)) sendJson(response, { metadata: { name: 'x' } });
    },
  };
};

test('keeps no more calls in flight than allowed, and half of them for other namespaces', async (t) => {
  const { held, state, handle, answer } = hold();
  const { client } = await serve(t, handle, { maxInFlight: 8 });
  const [hostile, other] = ['hostile', 'other'].map((namespace) =>
    Array.from({ length: 20 }, (_, index) => client.get(testPods, { namespace, name: `p${index}` })),
  );
  await eventually('both namespaces have calls in flight', () => held.length === 8);
  const of = (namespace: string): number =>
    held.filter(({ request }) => request.url?.includes(`/${namespace}/`)).length;
  assert.deepEqual([of('hostile'), of('other')], [4, 4]);
  const done = Promise.all([...(hostile ?? []), ...(other ?? [])]);
  let over = false;
  void done.finally(() => (over = true));
  await eventually('all calls are answered', () => {
    answer();
    return over;
  });
  assert.equal(state.most, 8);
});

test('calls that hang keep none of another namespace waiting for longer than two seconds', async (t) => {
  const { client } = await serve(
    t,
    (request, response) => {
      if (!request.url?.includes('/hostile')) sendJson(response, { metadata: { name: 'x' } });
    },
    { maxInFlight: 4 },
  );
  const stop = new AbortController();
  const hung = ['hostile1', 'hostile2', 'hostile3'].flatMap((namespace) =>
    Array.from({ length: 10 }, () =>
      client.get(testPods, { namespace, name: 'x' }, { signal: stop.signal }).catch(() => undefined),
    ),
  );
  const startedAt = Date.now();
  await client.get(testPods, { namespace: 'good', name: 'x' }, { timeoutMs: 10_000 });
  assert.ok(Date.now() - startedAt < 6_000, 'three groups of two become slow in turn');
  stop.abort(new Error('enough'));
  await Promise.all(hung);
});

test('asks a server that refuses with 429 for as much at a time as it accepts', async (t) => {
  const accepts = 3;
  let [inFlight, refused] = [0, 0];
  const { client } = await serve(t, (_request, response) => {
    if (inFlight >= accepts) {
      refused += 1;
      return sendJson(response, {}, 429, { 'retry-after': '0' });
    }
    inFlight += 1;
    setTimeout(() => {
      inFlight -= 1;
      sendJson(response, { metadata: { name: 'x' } });
    }, 20);
  });
  await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      client.create(testPods, { metadata: { namespace: 'a', name: `p${index}` } }, { timeoutMs: 20_000 }),
    ),
  );
  assert.ok(refused < 2 * 60, `${refused} requests were refused`);
});

test('HTTP/1.1: however many watches are open, calls have connections', async (t) => {
  const { client } = await serve(t, (request, response) => {
    if (!request.url?.includes('watch=true')) return sendJson(response, { metadata: { name: 'x' } });
    startJson(response);
    writeText(response, '\n');
  });
  const stop = new AbortController();
  let open = 0;
  const watches = Array.from({ length: 150 }, async () => {
    const stream = client.watch(testPods, { namespace: 'a', signal: stop.signal, onOpen: () => (open += 1) });
    for await (const event of stream) assert.fail(`no event was sent, but ${event.type} arrived`);
  });
  const over = Promise.allSettled(watches);
  await eventually('all are open', () => open === 150);
  await client.get(testPods, { namespace: 'a', name: 'x' }, { timeoutMs: 5_000 });
  stop.abort(new Error('enough'));
  await over;
});

test('a call that waits for its turn was not sent when it times out', async (t) => {
  const { client, server } = await serve(t, () => undefined, { maxInFlight: 1 });
  const stop = new AbortController();
  const first = client.get(testPods, { namespace: 'a', name: 'x' }, { signal: stop.signal }).catch(() => undefined);
  await eventually('the first is in flight', () => server.requests.length === 1);
  const write = client.create(testPods, { metadata: { namespace: 'a', name: 'y' } }, { timeoutMs: 50 });
  await assert.rejects(write, { code: 'Timeout', happened: 'no' });
  stop.abort(new Error('enough'));
  await first;
  assert.equal(server.requests.length, 1);
});
