import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { createTestAuthority } from '../../support/index.ts';
import { type Case, section } from '../kit/index.ts';
import { sample, startMetricsServer } from '../kit/metrics-server.ts';
import { createPlan, FRESH_CRD, label, passed, ring, stage, untilStage, wide } from '../kit/plans.ts';

type Check = NonNullable<RolloutPlanSpec['checks']>[number];

const checkOf = async (c: Case, name: string) => (await stage(c, 'lab'))?.checks?.find((check) => check.name === name);

const says =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };

const result = (data: object): string => JSON.stringify({ status: 'success', data });

/** What a thing that is taken for a Prometheus may do, each with what the check says of it. */
const ODD: Readonly<Record<string, readonly [(response: ServerResponse) => void, RegExp]>> = {
  hangs: [() => undefined, /no response within 10000 ms/],
  drips: [
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 300);
      response.on('close', () => clearInterval(drip));
    },
    /no complete response within 10000 ms/,
  ],
  garbage: [says(200, '\u0000\u0001{"status":'), /not that of a Prometheus/],
  page: [says(200, '<html>Sign in</html>', { 'content-type': 'text/html' }), /not that of a Prometheus/],
  nan: [says(200, sample('NaN')), /NaN/],
  word: [says(200, sample('0x1')), /NaN/],
  digits: [says(200, sample(`${'1'.repeat(1_000_000)}x`)), /a value of 1000001 characters, which is no number/],
  marks: [
    says(400, JSON.stringify({ status: 'error', errorType: 'bad_data', error: '\u202egnp\u2066\u001b[2J\n' })),
    /bad_data: gnp \[2J/,
  ],
  none: [says(200, result({ resultType: 'vector', result: [] })), /no sample/],
  nothing: [says(200, ''), /not that of a Prometheus/],
  null: [says(200, 'null'), /not that of a Prometheus/],
  matrix: [says(200, result({ resultType: 'matrix', result: [] })), /returns a matrix/],
  huge: [says(200, `"${'x'.repeat(2 ** 21)}"`), /too long/],
  many: [
    says(200, result({ resultType: 'vector', result: Array.from({ length: 20_000 }, () => ({ value: [1, '0'] })) })),
    /20000 samples/,
  ],
  moved: [says(302, '', { location: '/good/api/v1/query' }), /redirects are not followed/],
  broken: [says(500, 'Internal Server Error'), /HTTP 500/],
  denied: [says(403, 'Forbidden'), /HTTP 403/],
  resets: [(response) => response.destroy(), /socket hang up|ECONNRESET/],
  cut: [
    (response) => {
      response.writeHead(200, { 'content-length': '900' });
      response.write(sample('0').slice(0, 30));
      setImmediate(() => response.destroy());
    },
    /closed within the response/,
  ],
};

const prometheus = (name: string, more: Partial<NonNullable<Check['prometheus']>> = {}): Check => ({
  name,
  prometheus: { query: `up{check="${name}"}`, condition: 'result.all(r, r < 0.05)', interval: '1s', ...more },
});

const useStage = async (c: Case, checks: Check[], soak = '0s'): Promise<void> => {
  await label(c, { ring: 'lab' }, c.nodes.slice(0, 1));
  await createPlan(c, { stages: [ring('lab', { soak, checks: checks.map(({ name }) => name) })], checks });
};

/** Names the Secrets in the Role of `deploy/checks/secrets.yaml`, as its comment says. */
const letReadSecrets = (c: Case, resourceNames: readonly string[]): Promise<unknown> =>
  c.api.merge(`/apis/rbac.authorization.k8s.io/v1/namespaces/${c.namespace}/roles/edgeset-manager-check-secrets`, {
    rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames, verbs: ['get'] }],
  });

const createSecret = (c: Case, name: string, stringData: Record<string, string>): Promise<unknown> =>
  c.api.create(`/api/v1/namespaces/${c.namespace}/secrets`, { metadata: { name }, stringData });

export const checks = section(
  'Checks of a stage',
  (rule) => {
    rule(
      'a Prometheus that hangs, drips or talks nonsense holds the stage, and each check says what was answered',
      async (c) => {
        let isWell = false;
        const server = await startMetricsServer((path, response) =>
          isWell || path === 'good' ? says(200, sample('0.01'))(response) : ODD[path]?.[0](response),
        );
        try {
          const args = ['--leader-elect=false', `--allowed-check-addresses=${server.url}`];
          const { probes } = await c.startManager({ args });
          const odd = Object.keys(ODD);
          const isAlive = async (): Promise<boolean> =>
            (await fetch(`${probes}/healthz`, { signal: AbortSignal.timeout(5_000) })).ok;
          await useStage(
            c,
            ['good', ...odd].map((name) => prometheus(name, { address: `${server.url}/${name}` })),
          );
          await c.startRollout('app:v2', { annotations: wide });
          for (const name of odd) {
            const found = await c.until(`check ${name} was answered`, async () => {
              const check = await checkOf(c, name);
              return check?.state !== 'Pending' && check;
            });
            assert.equal(found.state, 'NoResult', `${name}: ${found.message}`);
            assert.match(found.message ?? '', ODD[name]?.[1] ?? /never/, name);
            assert.doesNotMatch(found.message ?? '', /[\p{Cc}\p{Bidi_Control}]/u, name);
            assert.ok(await isAlive(), name);
          }
          await c.until('check good passes', async () => (await checkOf(c, 'good'))?.state === 'Passing');
          assert.equal((await c.condition('Ready'))?.reason, 'StageChecking');
          assert.equal((await c.updates()).length, 1);
          const namedIn = (told: Awaited<ReturnType<Case['events']>>): string[] =>
            told.flatMap(({ note = '' }) => /^Check (\S+) of stage lab: /.exec(note)?.[1] ?? []);
          // Events of one reason beyond the tenth are combined.
          const events = await c.until('ten are told', async () => {
            const told = await c.events('CheckWithoutResult');
            return namedIn(told).length >= 10 && told;
          });
          const named = namedIn(events);
          assert.equal(new Set(named).size, named.length, named.join());
          assert.ok(
            events.every(({ type, note = '' }) => type === 'Warning' && !/[\p{Cc}\p{Bidi_Control}]/u.test(note)),
          );
          await c.change({ metadata: { annotations: { 'edgeset.io/paused': 'true' } } });
          await c.untilCondition('Paused');
          await c.api.merge(`/apis/edgeset.io/v1alpha1/namespaces/${c.namespace}/rolloutplans/rings`, {
            spec: { stages: [ring('lab', { checks: ['good', ...odd] })] },
          });
          isWell = true;
          await c.annotate({ 'edgeset.io/paused': 'false' });
          await untilStage(c, 'lab', passed, 'is passed');
          await c.untilRunning('app:v2');
        } finally {
          server.close();
        }
      },
      { nodes: 3, budget: 3, manager: 'none' },
    );

    rule(
      'one is false as often as failureLimit lets be, begins after initialDelay, and halts the rollout after that',
      async (c) => {
        const values = ['0.5'];
        let otherwise = '0.01';
        const server = await startMetricsServer((_, response) =>
          says(200, sample(values.shift() ?? otherwise))(response),
        );
        try {
          await c.startManager({ args: ['--leader-elect=false', `--prometheus-address=${server.url}`] });
          // ASCII alone would hide what a form does to a query.
          const query =
            'errors{ds="${daemonSet}",ns="${namespace}",is="${revision}",was="${previousRevision}",at="${stage}",x="ä+&%"}';
          await useStage(c, [prometheus('errors', { query, failureLimit: 1, initialDelay: '2s' })], '8s');
          await c.rolledOut({ annotations: wide });
          const was = (await c.status()).target?.hash;
          await c.setImage('app:v2');
          const soaking = await untilStage(c, 'lab', ({ soakUntil }) => soakUntil !== undefined, 'soaks');
          assert.equal((await c.untilEvent('CheckFailing')).type, 'Warning');
          await c.until('it was false once, and is true', async () => {
            const check = await checkOf(c, 'errors');
            return check?.state === 'Passing' && check.failures === 1;
          });
          assert.equal((await c.condition('Halted'))?.status, 'False');
          otherwise = '0.7';
          const halted = await c.untilCondition('Halted');
          assert.equal(halted.reason, 'CheckFailed');
          assert.deepEqual(
            [(await checkOf(c, 'errors'))?.state, (await checkOf(c, 'errors'))?.failures],
            ['Failed', 2],
          );
          const [first] = server.requests;
          const delay = (first?.at ?? 0) - Date.parse(soaking.coveredAt ?? '');
          assert.ok(delay >= 1_900 && delay < 8_000, `first asked after ${delay} ms`);
          const is = (await c.status()).target?.hash;
          assert.equal(first?.query, `errors{ds="app",ns="${c.namespace}",is="${is}",was="${was}",at="lab",x="ä+&%"}`);
          assert.equal((await c.updates()).length, 1);
        } finally {
          server.close();
        }
      },
      { nodes: 2, budget: 2, manager: 'none' },
    );

    rule(
      'one is asked with the credentials and by the authority that Secrets hold',
      async (c) => {
        const authority = createTestAuthority();
        const tls = authority.issue('metrics');
        const server = await startMetricsServer((_, response) => says(200, sample('0'))(response), tls);
        try {
          await c.startManager({ args: ['--leader-elect=false', `--allowed-check-addresses=${server.url}`] });
          await letReadSecrets(c, ['token', 'password', 'authority']);
          await createSecret(c, 'token', { token: 'bearer-of-news\n' });
          await createSecret(c, 'password', { username: 'ada', password: 'löve' });
          await createSecret(c, 'authority', { 'ca.crt': authority.cert });
          const ask = (name: string, more: Partial<NonNullable<Check['prometheus']>>): Check =>
            prometheus(name, { address: `${server.url}/${name}`, ...more });
          const caSecretName = 'authority';
          const held = [
            ask('untrusted', {}),
            ask('other-name', { tls: { caSecretName, serverName: 'elsewhere.example' } }),
          ];
          await useStage(c, [
            ask('bearer', { credentials: { secretName: 'token' }, tls: { caSecretName } }),
            ask('basic', { credentials: { secretName: 'password' }, tls: { caSecretName, serverName: 'localhost' } }),
            ask('blind', { tls: { insecureSkipVerify: true } }),
            ...held,
          ]);
          await c.startRollout('app:v2', { annotations: wide });
          for (const name of ['bearer', 'basic', 'blind'])
            await c.until(`${name} passes`, async () => {
              const check = await checkOf(c, name);
              if (check?.state === 'NoResult') throw new Error(check.message);
              return check?.state === 'Passing';
            });
          const authorizationOf = (path: string) => server.requests.find((one) => one.path === path)?.authorization;
          assert.equal(authorizationOf('bearer'), 'Bearer bearer-of-news');
          assert.equal(authorizationOf('basic'), `Basic ${Buffer.from('ada:löve').toString('base64')}`);
          assert.equal(authorizationOf('blind'), undefined);
          for (const { name } of held)
            await c.until(`${name} has no result`, async () => (await checkOf(c, name))?.state === 'NoResult');
          assert.deepEqual(
            server.requests.filter(({ path }) => held.some(({ name }) => name === path)),
            [],
          );
          assert.equal((await c.updates()).length, 1);
        } finally {
          server.close();
        }
      },
      { nodes: 2, budget: 2, manager: 'none' },
    );
  },
  { expected: FRESH_CRD },
);
