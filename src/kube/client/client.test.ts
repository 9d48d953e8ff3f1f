import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createTestAuthority,
  createTestClock,
  eventually,
  onBody,
  sendJson,
  startJson,
  startTestServer,
  type TestServerOptions,
  writeText,
} from '../../../test/support/index.ts';
import { createTestClient, serve, testAuthority, testEnv, testIdentity, testPods } from '../testing/index.ts';
import { isKubeError, type KubeError, type KubeErrorCode } from './errors.ts';
import type { RequestReport } from './options.ts';

const ref = { namespace: 'a', name: 'x' };
const pod = { metadata: { name: 'x', namespace: 'a', resourceVersion: '7', uid: 'u' } };
const protocols: TestServerOptions['protocol'][] = ['http', 'https', 'h2'];

const failure = async (work: Promise<unknown>): Promise<KubeError> => {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(isKubeError(error), `expected a KubeError, not ${String(error)}`);
  return error;
};

test('sends a serialized object unchanged', async (t) => {
  let sent = '';
  const { client } = await serve(t, (request, response) => {
    onBody(request, (body) => {
      sent = body;
      sendJson(response, JSON.parse(body) as object);
    });
  });
  const json = '{"metadata":{"namespace":"a"}, "b":"\\u003c","a":1}';
  await client.create(testPods, { metadata: { namespace: 'a' } }, { json });
  assert.equal(sent, json);
});

for (const protocol of protocols) {
  test(`${protocol}: requests identify the client, and bodies survive in both directions`, async (t) => {
    const { client } = await serve(
      t,
      (request, response) => {
        onBody(request, (body) =>
          sendJson(response, { ...(JSON.parse(body) as object), headers: request.headers, url: request.url }),
        );
      },
      {},
      { protocol },
    );
    const big = { metadata: { ...pod.metadata, annotations: { text: 'ü€😀'.repeat(100_000) } } };
    const answer: object = await client.create(testPods, big, { fieldManager: 'edgeset-test', dryRun: true });
    assert.partialDeepStrictEqual(answer, {
      apiVersion: 'v1',
      kind: 'Pod',
      ...big,
      url: '/api/v1/namespaces/a/pods?fieldManager=edgeset-test&dryRun=All',
      headers: { authorization: 'Bearer secret', 'user-agent': 'edgeset-test/0', 'content-type': 'application/json' },
    });
  });

  test(`${protocol}: a truncated body is an error, and leaves the outcome of a write unknown`, async (t) => {
    const { client, server } = await serve(
      t,
      (request, response) => {
        startJson(response);
        writeText(response, '{"metadata":{"name":"x","annotations":{"half":"');
        setTimeout(() => request.socket.destroy(), 20);
      },
      { maxRetries: 1 },
      { protocol },
    );
    const read = await failure(client.get(testPods, ref));
    // Over HTTP/2 a stream that is reset without an error looks like one that ended, but JSON does not.
    assert.equal(read.code, protocol === 'h2' ? 'Malformed' : 'Transport');
    assert.equal(read.happened, 'no');
    assert.equal(server.requests.length, 2, 'a read is tried again');
    const write = await failure(client.create(testPods, pod));
    assert.equal(write.code, read.code);
    assert.equal(write.happened, 'unknown');
    assert.equal(server.requests.length, 3, 'a write is not');
  });

  test(`${protocol}: a call without a response times out, and its stream is closed`, async (t) => {
    let closed = 0;
    const clock = createTestClock();
    const { client, server } = await serve(
      t,
      (_request, response) => void response.on('close', () => (closed += 1)),
      { env: testEnv(clock) },
      { protocol },
    );
    const timeOut = async (call: Promise<unknown>, requests: number): Promise<KubeError> => {
      const failed = failure(call);
      await eventually('the request has arrived', () => server.requests.length === requests);
      await clock.advance(100);
      return failed;
    };
    const read = await timeOut(client.get(testPods, ref, { timeoutMs: 100 }), 1);
    assert.deepEqual([read.code, read.happened, read.status], ['Timeout', 'no', 0]);
    const write = await timeOut(client.patch(testPods, ref, {}, { type: 'merge', timeoutMs: 100 }), 2);
    assert.deepEqual([write.code, write.happened], ['Timeout', 'unknown']);
    const stop = new AbortController();
    const stopped = assert.rejects(client.get(testPods, ref, { signal: stop.signal }), { message: 'my reason' });
    await eventually('the third request has arrived', () => server.requests.length === 3);
    stop.abort(new Error('my reason'));
    await stopped;
    await eventually('all three streams are closed', () => closed === 3);
  });
}

test('refusals have a code and report that nothing happened', async (t) => {
  const cases: [number, string, KubeErrorCode, string][] = [
    [409, 'Conflict', 'Conflict', 'no'],
    [409, 'AlreadyExists', 'AlreadyExists', 'no'],
    [410, 'Expired', 'Gone', 'no'],
    [422, 'Invalid', 'Invalid', 'no'],
    [403, '', 'Forbidden', 'no'],
    [405, 'MethodNotAllowed', 'BadRequest', 'no'],
    [500, 'InternalError', 'InternalError', 'unknown'],
    [503, '', 'ServiceUnavailable', 'unknown'],
    [504, 'Timeout', 'ServerTimeout', 'unknown'],
    [418, '', 'Unknown', 'no'],
  ];
  let now = 0;
  const { client, server } = await serve(t, (_request, response) => {
    const [code = 0, reason = ''] = cases[now] ?? [];
    sendJson(response, { kind: 'Status', status: 'Failure', code, reason, message: 'because' }, code);
  });
  for (const [status, , code, happened] of cases) {
    const error = await failure(client.create(testPods, pod));
    assert.deepEqual([error.code, error.status, error.happened], [code, status, happened]);
    assert.match(error.message, /because/);
    now += 1;
  }
  assert.equal(server.requests.length, cases.length, 'none of these writes is repeated');
});

test('retries writes after a 429 and its Retry-After, and reads also after a 503', async (t) => {
  let refusals = 0;
  const { client, server } = await serve(t, (request, response) => {
    refusals += 1;
    if (refusals % 2 === 0) return sendJson(response, pod);
    const status = request.method === 'GET' ? 503 : 429;
    sendJson(response, { kind: 'Status', code: status, details: { retryAfterSeconds: 1 } }, status);
  });
  const startedAt = Date.now();
  await client.create(testPods, pod);
  assert.ok(Date.now() - startedAt >= 1000);
  await client.get(testPods, ref);
  assert.equal(server.requests.length, 4);
});

test('repeats a write only while the caller wants it', async (t) => {
  const { client, server } = await serve(t, (_request, response) =>
    sendJson(response, {}, 429, { 'retry-after': '0' }),
  );
  let asked = 0;
  const mayRepeat = (): boolean => {
    asked += 1;
    return asked < 4;
  };
  assert.equal((await failure(client.create(testPods, pod, { mayRepeat }))).code, 'TooManyRequests');
  assert.equal(server.requests.length, 2, 'asked before and after each wait');
  await failure(client.create(testPods, pod, { mayRepeat: () => false }));
  assert.equal(server.requests.length, 3);
});

test('returns the refusal at once when Retry-After exceeds the timeout', async (t) => {
  const { client, server } = await serve(t, (_request, response) =>
    sendJson(response, {}, 429, { 'retry-after': '20' }),
  );
  const startedAt = Date.now();
  const error = await failure(client.create(testPods, pod, { timeoutMs: 10_000 }));
  assert.deepEqual([error.code, error.retryAfterSeconds, error.happened], ['TooManyRequests', 20, 'no']);
  assert.ok(Date.now() - startedAt < 2000);
  assert.equal(server.requests.length, 1);
});

test('responses that are not JSON or not a list are Malformed', async (t) => {
  let answer = '';
  const { client } = await serve(
    t,
    (_request, response) => {
      startJson(response);
      response.end(answer);
    },
    { maxBodyBytes: 1000, maxRetries: 0 },
  );
  for (const text of ['<html>', '', '[]', 'null']) {
    answer = text;
    assert.equal((await failure(client.get(testPods, ref))).code, 'Malformed', text.slice(0, 20));
  }
  for (const text of [
    '{}',
    '{"metadata":{"resourceVersion":"1"}}',
    '{"items":[]}',
    '{"items":{},"metadata":{"resourceVersion":"1"}}',
  ]) {
    answer = text;
    assert.equal((await failure(client.list(testPods))).code, 'Malformed', text);
  }
  answer = '{"items":null,"metadata":{"resourceVersion":"1"}}';
  assert.deepEqual(await client.list(testPods), { items: [], resourceVersion: '1' });
  answer = '{}';
  assert.equal((await failure(client.create(testPods, pod).then(() => client.list(testPods)))).happened, 'no');
});

test('an unreachable server: nothing happened, and the metrics report an error', async () => {
  const reports: RequestReport[] = [];
  const client = createTestClient(
    'http://127.0.0.1:1',
    {},
    { maxRetries: 1, onRequest: (report) => reports.push(report) },
  );
  const error = await failure(client.create(testPods, pod));
  assert.deepEqual([error.code, error.happened], ['Transport', 'no']);
  assert.deepEqual(
    reports.map(({ verb, method, host, code, resource }) => [verb, method, host, code, resource]),
    Array.from({ length: 2 }, () => ['create', 'POST', '127.0.0.1:1', '<error>', 'pods']),
  );
  await client.close();
});

test("reports the server's time from the Date header", async (t) => {
  const reports: RequestReport[] = [];
  let date: string | undefined = 'Sat, 21 Nov 2026 12:00:07 GMT';
  const { client } = await serve(
    t,
    (_request, response) => {
      response.sendDate = false;
      if (date !== undefined) response.setHeader('date', date);
      sendJson(response, pod);
    },
    { onRequest: (report) => reports.push(report) },
  );
  await client.get(testPods, { namespace: 'default', name: 'a' });
  date = 'noon';
  await client.get(testPods, { namespace: 'default', name: 'a' });
  date = undefined;
  await client.get(testPods, { namespace: 'default', name: 'a' });
  assert.deepEqual(
    reports.map(({ serverTime }) => serverTime),
    [Date.parse('2026-11-21T12:00:07Z'), undefined, undefined],
  );
});

test('patches have their content type, deletes their preconditions, subresources their path', async (t) => {
  const seen: unknown[] = [];
  const { client } = await serve(t, (request, response) => {
    onBody(request, (body) => {
      seen.push([
        request.method,
        request.url,
        request.headers['content-type'],
        body === '' ? '' : (JSON.parse(body) as unknown),
      ]);
      sendJson(response, request.url?.endsWith('gone') ? { kind: 'Status' } : pod);
    });
  });
  await client.patch(testPods, ref, { a: 1 }, { type: 'merge', subresource: 'status' });
  await client.patch(testPods, ref, { a: 1 }, { type: 'strategic' });
  await client.patch(testPods, ref, [], { type: 'json' });
  await client.patch(testPods, ref, { a: 1 }, { type: 'apply', fieldManager: 'm', force: true });
  await client.replace(testPods, { kind: 'Pod', apiVersion: 'v1', ...pod }, { subresource: 'status' });
  assert.deepEqual(await client.delete(testPods, ref, { preconditions: { uid: 'u' }, gracePeriodSeconds: 0 }), pod);
  assert.equal(await client.delete(testPods, { namespace: 'a', name: 'gone' }), undefined);
  const path = '/api/v1/namespaces/a/pods/x';
  const options = { apiVersion: 'v1', kind: 'DeleteOptions' };
  assert.deepEqual(seen, [
    ['PATCH', `${path}/status`, 'application/merge-patch+json', { a: 1 }],
    ['PATCH', path, 'application/strategic-merge-patch+json', { a: 1 }],
    ['PATCH', path, 'application/json-patch+json', []],
    ['PATCH', `${path}?fieldManager=m&force=true`, 'application/apply-patch+yaml', { a: 1 }],
    ['PUT', `${path}/status`, 'application/json', { kind: 'Pod', apiVersion: 'v1', ...pod }],
    ['DELETE', path, 'application/json', { ...options, preconditions: { uid: 'u' }, gracePeriodSeconds: 0 }],
    ['DELETE', '/api/v1/namespaces/a/pods/gone', 'application/json', options],
  ]);
});

test('refuses names that would change the path of the URL, before sending anything', async (t) => {
  const { client, server } = await serve(t, (_request, response) => sendJson(response, pod));
  for (const name of ['', '.', '..', 'a/b', 'a%2fb']) {
    assert.equal((await failure(client.get(testPods, { namespace: 'a', name }))).code, 'BadRequest', name);
  }
  assert.equal((await failure(client.get(testPods, { name: 'x' }))).code, 'BadRequest');
  assert.equal((await failure(client.patch(testPods, ref, {}, { type: 'apply' }))).code, 'BadRequest');
  assert.equal(server.requests.length, 0);
});

test('presents a client certificate, sends impersonation headers and keeps the base path of the server', async (t) => {
  const who = testAuthority.issue('alice');
  const server = await startTestServer(
    { protocol: 'h2', identity: testIdentity, clientCa: testAuthority.cert },
    (request, response) => {
      const peer =
        'stream' in request
          ? (request.stream.session?.socket as { getPeerCertificate?(): { subject?: { CN?: string } } })
          : {};
      sendJson(response, {
        ...pod,
        url: request.url,
        headers: request.headers,
        peer: peer.getPeerCertificate?.().subject?.CN,
      });
    },
  );
  const client = createTestClient(`${server.url}/k8s/c1`, {
    certificateAuthority: { from: 'text', text: testAuthority.cert },
    tlsServerName: 'localhost',
    auth: { certificate: { cert: { from: 'text', text: who.cert }, key: { from: 'text', text: who.key } } },
    impersonate: { user: 'bob', uid: '7', groups: ['g,1'], extra: { Scope: ['view'] } },
  });
  t.after(async () => {
    await client.close();
    await server.close();
  });
  const answer: object = await client.get(testPods, ref);
  assert.partialDeepStrictEqual(answer, {
    peer: 'alice',
    url: '/k8s/c1/api/v1/namespaces/a/pods/x',
    headers: { 'impersonate-user': 'bob', 'impersonate-uid': '7', 'impersonate-extra-scope': 'view' },
  });
  assert.match(JSON.stringify(answer), /"impersonate-group":"g,1"/);
});

test('sends each group of an impersonated user as its own header', async (t) => {
  const raw: string[] = [];
  const server = await startTestServer({ protocol: 'h2', identity: testIdentity }, (request, response) => {
    raw.push(...request.rawHeaders);
    sendJson(response, pod);
  });
  const client = createTestClient(server.url, {
    certificateAuthority: { from: 'text', text: testAuthority.cert },
    tlsServerName: 'localhost',
    impersonate: { user: 'bob', groups: ['g1', 'g,2'], extra: {} },
  });
  t.after(async () => {
    await client.close();
    await server.close();
  });
  await client.get(testPods, ref);
  assert.deepEqual(
    raw.filter((_, index) => raw[index - 1]?.toLowerCase() === 'impersonate-group'),
    ['g1', 'g,2'],
  );
});

test('an authority without a certificate is a configuration error, and no other authority is trusted instead', async (t) => {
  const server = await startTestServer({ protocol: 'h2', identity: testIdentity }, (_request, response) =>
    sendJson(response, pod),
  );
  const client = createTestClient(server.url, { certificateAuthority: { from: 'text', text: '' } }, { maxRetries: 0 });
  t.after(async () => {
    await client.close();
    await server.close();
  });
  await assert.rejects(client.get(testPods, ref), { code: 'Unauthorized', message: /contains no certificate/ });
  assert.equal(server.requests.length, 0);
});

test('refuses a server whose certificate another authority signed', async (t) => {
  const server = await startTestServer({ protocol: 'h2', identity: testIdentity }, (_request, response) =>
    sendJson(response, pod),
  );
  const stranger = createTestAuthority('stranger');
  const client = createTestClient(
    server.url,
    { certificateAuthority: { from: 'text', text: stranger.cert } },
    { maxRetries: 0 },
  );
  const wrongName = createTestClient(
    server.url,
    { certificateAuthority: { from: 'text', text: testAuthority.cert }, tlsServerName: 'other.example' },
    { maxRetries: 0 },
  );
  t.after(async () => {
    await client.close();
    await wrongName.close();
    await server.close();
  });
  assert.equal((await failure(client.get(testPods, ref))).code, 'Transport');
  assert.equal((await failure(wrongName.get(testPods, ref))).code, 'Transport');
  assert.equal(server.requests.length, 0);
});
