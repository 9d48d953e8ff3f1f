import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { fromJSONSchema, type ZodType } from 'zod';
import { silentLogger, systemClock } from '../../runtime/index.ts';
import { openTokenFile } from '../auth/index.ts';
import { StorageError, type StorageErrorCode } from '../decisions/index.ts';
import { openDecisionsInMemory } from '../testing/decisions-in-memory.ts';
import type { Caller, Choice, TextResponse } from '../types.ts';
import type { FakeBackend } from './testing/fake-backend.ts';
import { type RawAnswer, sendRaw } from './testing/raw-http.ts';
import { type Started, startServer } from './testing/start.ts';

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { content: { 'application/json': { schema: object; examples: Record<string, { value: unknown }> } } };
  responses: Record<string, { content: Record<string, { schema: object }>; headers?: Record<string, object> }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

const documentOf = async (url: string): Promise<Document> =>
  (await (await fetch(`${url}/openapi.json`)).json()) as Document;

const validator = (document: Document, schema: object): ZodType => {
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const local = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as Parameters<
    typeof fromJSONSchema
  >[0];
  return fromJSONSchema(local);
};

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-openapi-'));
after(() => rmSync(folder, { recursive: true }));
const tokenFile = path.join(folder, 'tokens');
writeFileSync(tokenFile, 'kiosk:a-token-of-the-kiosk\n', { mode: 0o600 });

interface Request {
  method: string;
  target: string;
  headers?: readonly string[];
  body?: string;
}

const send = async ({ address }: Started, { method, target, headers = [], body = '' }: Request): Promise<RawAnswer> => {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(headers.some((line) => line.startsWith('Host: ')) ? [] : [`Host: ${address}`]),
    ...(headers.some((line) => line.startsWith('Content-Length: ')) || method !== 'POST'
      ? []
      : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ...headers,
    'Connection: close',
    '',
    body,
  ];
  const [answer] = await sendRaw(address, lines.join('\r\n'));
  assert.ok(answer, `${method} ${target}: an answer`);
  return answer;
};

/** Requests that a guard refuses, by status, for any route. */
const guardCases: Record<number, (t: TestContext, request: Request) => Promise<RawAnswer>> = {
  400: async (t, request) => send(await startServer(t), { ...request, headers: ['Host: a', 'Host: b'] }),
  401: async (t, request) => {
    const tokens = openTokenFile(tokenFile, silentLogger);
    return send(await startServer(t, { auth: { allowedUids: new Set(), tokens } }), request);
  },
  403: async (t, request) =>
    send(await startServer(t), { ...request, headers: [...(request.headers ?? []), 'Origin: http://evil.example'] }),
  413: async (t, request) =>
    send(await startServer(t), {
      ...request,
      headers: ['Content-Type: application/json', 'Content-Length: 5000'],
      body: 'x'.repeat(5000),
    }),
  421: async (t, request) => send(await startServer(t), { ...request, headers: ['Host: evil.example'] }),
  429: async (t, request) =>
    send(await startServer(t, { limits: { ratePerPool: { perSecond: 1, burst: 0 } } }), request),
  500: async (t, request) => {
    const started = await startServer(t);
    started.backend.next.fail = new Error('broken');
    return send(started, request);
  },
};

const decisionPath = '/edgeset.io/v1/updates/shop/till/decision';
const pod = '/openyurt.io/v1/namespaces/shop/pods/till-x7k2p';
const decision = (body: object, type = 'application/json'): Request => ({
  method: 'POST',
  target: decisionPath,
  headers: [`Content-Type: ${type}`],
  body: JSON.stringify(body),
});
const approve = decision({ revision: '7d9c', decision: 'approve' });
const get = (target: string): Request => ({ method: 'GET', target });

interface Case {
  request: Request;
  prepare?: (backend: FakeBackend) => void;
}
const answering = (status: TextResponse['status']) => (backend: FakeBackend) => {
  backend.next.upgrade = { status, text: 'because' };
};
const refusing = (status: 403 | 404 | 409 | 422) => (backend: FakeBackend) => {
  backend.next.decide = { kind: 'refused', status, reason: 'OtherRevision', message: 'because' };
};
const failing = (code: StorageErrorCode) => (backend: FakeBackend) => {
  backend.next.fail = new StorageError(code, 'the disk takes nothing');
};
const compatible = (what: string): Record<string, Case> =>
  Object.fromEntries([
    ...([400, 403, 404, 502, 503, 504, 507] as const).map((status): [string, Case] => [
      `${status} text/plain`,
      { request: { method: 'POST', target: `${pod}/${what}` }, prepare: answering(status) },
    ]),
    ['200 text/plain', { request: { method: 'POST', target: `${pod}/${what}` } }],
    ['503 application/json', { request: { method: 'POST', target: `${pod}/${what}` }, prepare: failing('ReadOnly') }],
    ['507 application/json', { request: { method: 'POST', target: `${pod}/${what}` }, prepare: failing('NoSpace') }],
  ]);

/** One request for each response of a route itself. */
const cases: Record<string, Record<string, Case>> = {
  listPods: { '200 application/json': { request: get('/pods') } },
  upgradePod: {
    ...compatible('upgrade'),
    '202 text/plain': { request: { method: 'POST', target: `${pod}/upgrade?queue=true` } },
  },
  pullImages: compatible('imagepull'),
  listUpdates: { '200 application/json': { request: get('/edgeset.io/v1/updates') } },
  getUpdate: {
    '200 application/json': { request: get('/edgeset.io/v1/updates/shop/till') },
    '404 application/json': { request: get('/edgeset.io/v1/updates/shop/none') },
  },
  decide: {
    '201 application/json': { request: decision({ revision: '7d9c', decision: 'reject' }) },
    '202 application/json': { request: approve },
    '403 application/json': { request: approve, prepare: refusing(403) },
    '404 application/json': { request: approve, prepare: refusing(404) },
    '409 application/json': { request: approve, prepare: refusing(409) },
    '415 application/json': { request: decision({}, 'text/plain') },
    '422 application/json': { request: decision({ revision: '7d9c', decision: 'maybe' }) },
    '503 application/json': { request: approve, prepare: failing('ReadOnly') },
    '507 application/json': { request: approve, prepare: failing('NoSpace') },
  },
  listHistory: { '200 application/json': { request: get('/edgeset.io/v1/history') } },
  getDevice: { '200 application/json': { request: get('/edgeset.io/v1/device') } },
  followEvents: { '200 text/event-stream': { request: { method: 'HEAD', target: '/edgeset.io/v1/events' } } },
};

describe('the OpenAPI document', () => {
  it('describes every operation, and all responses match it', async (t) => {
    const started = await startServer(t);
    const document = await documentOf(started.url);
    assert.equal(document.openapi, '3.1.0');
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    assert.deepEqual(new Set(operations.map(({ operationId }) => operationId)), new Set(Object.keys(cases)));
    for (const { operationId, responses } of operations) {
      const check = (what: string, answer: RawAnswer): string => {
        const response = responses[answer.status];
        assert.ok(response, `${operationId} ${what}: ${answer.status} is described`);
        const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
        const content = response.content[type];
        assert.ok(content, `${operationId} ${what}: ${answer.status} ${type} is described`);
        for (const name of Object.keys(response.headers ?? {}))
          assert.ok(answer.headers.has(name.toLowerCase()), `${operationId}: ${name}`);
        const body: unknown = type === 'application/json' ? JSON.parse(answer.body) : answer.body;
        const parsed = validator(document, content.schema).safeParse(body);
        assert.ok(parsed.success, `${operationId} ${what}: ${parsed.error?.message}\n${answer.body}`);
        return `${answer.status} ${type}`;
      };
      const seen = new Set<string>();
      let plain: Request | undefined;
      for (const [what, { request, prepare }] of Object.entries(cases[operationId] ?? {})) {
        const one = await startServer(t);
        prepare?.(one.backend);
        const got = check(what, await send(one, request));
        assert.equal(got, what, operationId);
        seen.add(got);
        if (what.startsWith('20')) plain = request;
      }
      assert.ok(plain, operationId);
      for (const [status, guard] of Object.entries(guardCases)) {
        // An endless response has no length.
        if (operationId === 'followEvents' && status !== '200') plain = get(plain.target);
        const got = check(`guard ${status}`, await guard(t, plain));
        assert.equal(got, `${status} application/json`, operationId);
        seen.add(got);
      }
      const described = Object.entries(responses).flatMap(([status, { content }]) =>
        Object.keys(content).map((type) => `${status} ${type}`),
      );
      assert.deepEqual([...seen].toSorted(), described.toSorted(), operationId);
    }
  });

  it('describes every decision that the store holds, also one of the YurtHub routes', async (t) => {
    const started = await startServer(t);
    const document = await documentOf(started.url);
    const store = await openDecisionsInMemory({ clock: systemClock, random: Math.random, log: silentLogger });
    const by: Caller = { identity: 'uid:0', via: 'loopback' };
    const choice: Choice = { choice: 'approve', when: { type: 'now' } };
    const daemonSet = { namespace: 'shop', daemonSet: 'till' };
    const { id } = await store.decide({ ...daemonSet, revision: '7d9c', choice, by, fromRevision: null, once: true });
    const write = { kind: 'delete', pod: 'till-x7k2p', podUid: 'u', fromRevision: '5d4f', toRevision: '7d9c' } as const;
    const acting = await store.begin(id, write);
    assert.equal(acting.once, true);
    const settled = await store.settle(id, 'done', 'Updated', 'The new pod is ready.');
    const schema = { $ref: '#/components/schemas/Decision' };
    for (const one of [acting, settled])
      assert.ok(validator(document, schema).safeParse(one).success, JSON.stringify(one));
  });

  it('contains valid examples of decisions', async (t) => {
    const started = await startServer(t);
    const document = await documentOf(started.url);
    const body = document.paths['/edgeset.io/v1/updates/{namespace}/{daemonSet}/decision']?.post?.requestBody;
    const content = body?.content['application/json'];
    assert.ok(content);
    for (const [name, { value }] of Object.entries(content.examples)) {
      assert.ok(validator(document, content.schema).safeParse(value).success, name);
      const { status } = await send(started, decision(value as object));
      assert.ok([201, 202].includes(status), `${name}: ${status}`);
    }
  });
});
