import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createTestServers,
  onBody,
  type Request,
  type Response,
  sendJson,
  startJson,
  writeText,
} from '../../test/support/index.ts';
import { createOutgoing } from '../http/index.ts';
import type { KubeClient } from '../kube/index.ts';
import { systemClock } from '../runtime/index.ts';
import type { PrometheusCheck } from '../words/index.ts';
import { createPrometheus, type PrometheusOptions } from './prometheus.ts';
import { createStubClient, secretOf, subject } from './testing/index.ts';
import type { CheckSubject, Evaluation } from './types.ts';

const servers = createTestServers();
const { authority } = servers;

/** A Prometheus, and what it was asked: the query and the Authorization of each request. */
const serve = async (answer: (response: Response, request: Request) => void, tls = false) => {
  const asked: { query: string | null; authorization: string | undefined }[] = [];
  const server = await servers.serve(
    (request, response) =>
      onBody(request, (body) => {
        const { authorization } = request.headers;
        const form = request.method === 'GET' ? (request.url?.split('?')[1] ?? '') : body;
        asked.push({ query: new URLSearchParams(form).get('query'), authorization });
        answer(response, request);
      }),
    tls,
  );
  return { server, asked };
};

const values = (...samples: string[]): object => ({
  status: 'success',
  data: { resultType: 'vector', result: samples.map((sample) => ({ metric: {}, value: [1, sample] })) },
});

const base: PrometheusCheck = { query: 'errors{ds="${daemonSet}"}', condition: 'result.all(r, r < 0.05)' };

const evaluate = (
  prometheusAddress: string | undefined,
  check: Partial<PrometheusCheck> = {},
  {
    about = {},
    secrets = [],
    forbidden = false,
    ...options
  }: Partial<PrometheusOptions> & {
    about?: Partial<CheckSubject>;
    secrets?: ReturnType<typeof secretOf>[];
    forbidden?: boolean;
  } = {},
): Promise<Evaluation> => {
  const client = createStubClient(...secrets);
  if (forbidden) client.forbidden.add('secrets');
  const timeoutMs = options.timeoutMs ?? 20_000;
  const ask = createPrometheus({
    client: client as unknown as KubeClient,
    send: createOutgoing({ clock: systemClock, environment: {}, timeoutMs }),
    timeoutMs,
    prometheusAddress,
    allowedAddresses: [],
    ...options,
  });
  return ask({ ...base, ...check }, subject(about), new AbortController().signal);
};

describe('a Prometheus', () => {
  it('that answers decides, and is quoted', async () => {
    const { server, asked } = await serve((response) => sendJson(response, values('0.01', '0.04')));
    const query = 'errors{ds="web"}';
    assert.deepEqual(await evaluate(`${server.url}/tenant/`), {
      kind: 'holds',
      message: `result.all(r, r < 0.05) is true for 0.01, 0.04. Query: ${query}`,
    });
    assert.deepEqual(await evaluate(server.url, { condition: 'result.all(r, r < 0.02)' }), {
      kind: 'fails',
      message: `result.all(r, r < 0.02) is false for 0.01, 0.04. Query: ${query}`,
    });
    assert.deepEqual(server.requests, ['POST /tenant/api/v1/query', 'POST /api/v1/query']);
    assert.deepEqual(asked[0], { query, authorization: undefined });
  });

  it('behind a proxy that permits only GET is asked so', async () => {
    const { server, asked } = await serve((response, { method }) =>
      method === 'GET' ? sendJson(response, values('0')) : sendJson(response, {}, 405),
    );
    assert.equal((await evaluate(server.url)).kind, 'holds');
    assert.deepEqual(
      asked.map(({ query }) => query),
      ['errors{ds="web"}', 'errors{ds="web"}'],
    );
  });

  for (const [name, answer, message] of [
    ['has no sample', (response: Response) => sendJson(response, values()), /no sample/],
    ['answers NaN', (response: Response) => sendJson(response, values('NaN')), /NaN/],
    [
      'refuses the query',
      (response: Response) =>
        sendJson(response, { status: 'error', errorType: 'bad_data', error: 'unexpected }' }, 400),
      /bad_data: unexpected \}/,
    ],
    ['wants credentials', (response: Response) => sendJson(response, {}, 401), /HTTP 401: set prometheus.credentials/],
    [
      'is another server',
      (response: Response) => sendJson(response, {}, 404),
      /HTTP 404: set the address of a Prometheus/,
    ],
    ['is no Prometheus', (response: Response) => sendJson(response, { ok: true }), /not that of a Prometheus/],
    ['redirects', (response: Response) => sendJson(response, {}, 302), /HTTP 302: redirects are not followed/],
    ['answers success with an error status', (response: Response) => sendJson(response, values('0'), 500), /HTTP 500/],
    [
      'answers without end',
      (response: Response) => {
        startJson(response, 200);
        const talk = setInterval(() => writeText(response, ' '.repeat(262_144)), 1);
        response.on('close', () => clearInterval(talk));
      },
      /too long/,
    ],
    ['closes the connection', (response: Response) => response.destroy(), /socket hang up/],
  ] as const)
    it(`that ${name} gives no result`, async () => {
      const { server } = await serve(answer);
      const evaluation = await evaluate(server.url);
      assert.equal(evaluation.kind, 'none');
      assert.match(evaluation.message, message);
      assert.match(evaluation.message, /Query: errors\{ds="web"\}$/);
    });

  it('that is slow, or is down, gives no result', async () => {
    const { server } = await serve(() => undefined);
    const slow = await evaluate(server.url, {}, { timeoutMs: 300 });
    assert.deepEqual([slow.kind, /no response within 300 ms/.test(slow.message)], ['none', true]);
    await server.close();
    const down = await evaluate(server.url);
    assert.deepEqual([down.kind, /ECONNREFUSED/.test(down.message)], ['none', true]);
  });

  it('that a plan of a namespace may not name is not asked', async () => {
    const { server } = await serve((response) => sendJson(response, values('0')));
    const check = { address: server.url };
    assert.match((await evaluate(undefined, check)).message, /--allowed-check-addresses/);
    assert.deepEqual(server.requests, []);
    assert.equal((await evaluate(undefined, check, { allowedAddresses: [server.url] })).kind, 'holds');
    assert.equal((await evaluate(undefined, check, { about: { clusterPlan: true } })).kind, 'holds');
  });

  it('gives no result when the condition does not suit its answer', async () => {
    const { server } = await serve((response) => sendJson(response, values('0')));
    const evaluation = await evaluate(server.url, { condition: 'result[3] < 1.0' });
    assert.equal(evaluation.kind, 'none');
    assert.match(evaluation.message, /cannot be evaluated for 0: .*index/);
  });
});

describe('credentials', () => {
  const authorizationFor = async (texts: Record<string, string>): Promise<string | undefined> => {
    const { server, asked } = await serve((response) => sendJson(response, values('0')));
    const check = { credentials: { secretName: 'prom' } };
    const evaluation = await evaluate(server.url, check, { secrets: [secretOf('prom', texts)] });
    return evaluation.kind === 'holds' ? asked[0]?.authorization : evaluation.message;
  };

  it('are a token, or a user and a password', async () => {
    assert.equal(await authorizationFor({ token: 'abc\n' }), 'Bearer abc');
    const basic = `Basic ${Buffer.from('me:pä ss').toString('base64')}`;
    assert.equal(await authorizationFor({ username: 'me', password: 'pä ss\n' }), basic);
  });

  it('that can not be used are named, and nobody is asked', async () => {
    assert.match((await authorizationFor({})) ?? '', /Secret shop\/prom has neither token nor username/);
    assert.match(
      (await authorizationFor({ username: 'me' })) ?? '',
      /neither token nor username and password: set them/,
    );
    assert.match((await authorizationFor({ token: 'a', password: 'b' })) ?? '', /keep one of the two/);
    const split = (await authorizationFor({ token: 'xyzzy\r\nplugh' })) ?? '';
    assert.match(split, /not one line/);
    assert.doesNotMatch(split, /xyzzy|plugh/);
    const check = { credentials: { secretName: 'prom' } };
    assert.match((await evaluate('http://127.0.0.1:1', check)).message, /Secret shop\/prom does not exist: create it/);
    const denied = await evaluate('http://127.0.0.1:1', check, { forbidden: true });
    assert.match(denied.message, /Secret shop\/prom may not be read by the manager: grant/);
  });

  it('of a cluster plan come from the namespace of the manager', async () => {
    const { server, asked } = await serve((response) => sendJson(response, values('0')));
    const about = { clusterPlan: true, secretNamespace: 'edgeset-system' };
    const secrets = [secretOf('prom', { token: 'own' }, 'edgeset-system'), secretOf('prom', { token: 'other' })];
    await evaluate(server.url, { credentials: { secretName: 'prom' } }, { about, secrets });
    assert.equal(asked[0]?.authorization, 'Bearer own');
  });
});

describe('TLS', () => {
  it('trusts the authority of the Secret', async () => {
    const { server } = await serve((response) => sendJson(response, values('0')), true);
    const secrets = [secretOf('ca', { 'ca.crt': authority.cert }), secretOf('none', { 'ca.crt': 'x' })];
    const result = async (tls?: PrometheusCheck['tls']): Promise<string> => {
      const { kind, message } = await evaluate(server.url, tls && { tls }, { secrets });
      return kind === 'none' ? message : kind;
    };
    assert.match(await result(), /set tls.caSecretName/);
    assert.equal(await result({ caSecretName: 'ca' }), 'holds');
    assert.match(await result({ caSecretName: 'ca', serverName: 'other.example' }), /other.example/);
    assert.equal(await result({ insecureSkipVerify: true }), 'holds');
    assert.match(await result({ caSecretName: 'none' }), /Secret shop\/none has no ca.crt/);
    assert.match(await result({ caSecretName: 'gone' }), /Secret shop\/gone does not exist/);
  });

  it('is missed when the address has none', async () => {
    const { message } = await evaluate('http://127.0.0.1:1', { tls: { insecureSkipVerify: true } });
    assert.match(message, /prometheus.tls is set, but http:\/\/127.0.0.1:1 has no TLS/);
  });
});
