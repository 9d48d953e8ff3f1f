import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { createTestClock, settle } from '../../test/support/index.ts';
import { type ClientOptions, type ClusterConfig, nodes } from '../kube/index.ts';
import { silentLogger } from '../runtime/index.ts';
import { createClients } from './clients.ts';
import { electByLease } from './election.ts';
import { resolveLeaderElection } from './options.ts';

type Connect = NonNullable<ClientOptions['connect']>;
type Answer = Awaited<ReturnType<ReturnType<Connect>['send']>>;

const config: ClusterConfig = {
  server: 'https://cluster:6443',
  namespace: 'default',
  source: 'test',
  insecureSkipTlsVerify: false,
  auth: {},
};

const answer = (status: number, body: object, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: (async function* () {
    await Promise.resolve();
    yield Buffer.from(JSON.stringify(body));
  })(),
  cancel: () => undefined,
});

/** An API server that holds one Lease, refuses it with 429 when it should, and never answers other requests. */
const setUp = () => {
  const clock = createTestClock();
  const state = { refuses: false, unanswered: 0, connections: 0, refused: 0 };
  let lease: Lease | undefined;
  let version = 0;
  const connect: Connect = () => {
    state.connections += 1;
    return {
      send(request, signal) {
        if (!request.path.includes('/leases')) {
          state.unanswered += 1;
          return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        }
        if (state.refuses) {
          state.refused += 1;
          return Promise.resolve(answer(429, { kind: 'Status', code: 429 }, { 'retry-after': '1' }));
        }
        if (request.method !== 'GET') {
          version += 1;
          const written = JSON.parse(request.body ?? '') as Lease;
          lease = { ...written, metadata: { ...written.metadata, resourceVersion: String(version) } };
        }
        return Promise.resolve(lease ? answer(200, lease) : answer(404, { kind: 'Status', code: 404 }));
      },
      drain: () => Promise.resolve(),
      destroy: () => Promise.resolve(),
    };
  };
  const env = { clock, random: () => 0.5, log: silentLogger };
  const leaderElection = resolveLeaderElection({}, { id: 'edgeset-manager', podNamespace: undefined });
  assert.ok(leaderElection);
  const clients = createClients(config, { program: 'manager', env, version: '0', connect });
  const stop = new AbortController();
  const terms: string[] = [];
  const elect = electByLease(
    { client: clients.leaseClient, env, identity: 'a', onChange: (leading) => terms.push(leading ? 'leads' : 'waits') },
    leaderElection,
  );
  const lead = (leading: AbortSignal) =>
    new Promise<void>((resolve) => leading.addEventListener('abort', () => resolve()));
  const ended = elect(lead, stop.signal);
  return { clock, state, clients, terms, stop: () => stop.abort(), ended };
};

test('1,500 calls at once that nobody answers do not cost the Lease', async () => {
  const { clock, state, clients, terms, stop, ended } = setUp();
  await settle();
  const calls = Array.from({ length: 1_500 }, (_, index) => clients.client.get(nodes, { name: `n${index}` }));
  const over = Promise.allSettled(calls);
  await clock.advance(29_000);
  assert.equal(state.unanswered, 64, 'in flight at the same time');
  await clock.advance(91_000);
  await over;
  assert.deepEqual(terms, ['waits', 'leads']);
  assert.equal(state.connections, 2, 'the Lease has its own connection');
  stop();
  await ended;
});

test('a Lease that is refused with 429 for 30 s stays ours', async () => {
  const { clock, state, terms, stop, ended } = setUp();
  await clock.advance(10_000);
  for (let round = 0; round < 5; round += 1) {
    state.refuses = true;
    await clock.advance(30_000);
    state.refuses = false;
    await clock.advance(2_500 + round * 100);
  }
  assert.ok(state.refused >= 60, `${state.refused} attempts`);
  assert.deepEqual(terms, ['waits', 'leads']);
  state.refuses = true;
  await clock.advance(65_000);
  assert.deepEqual(terms, ['waits', 'leads', 'waits'], 'nobody leads for ever without the Lease');
  state.refuses = false;
  stop();
  await clock.advance(5_000);
  await ended;
});

test('1,100 watches that are opened together keep neither calls nor the Lease waiting', async () => {
  const { clock, state, clients, terms, stop, ended } = setUp();
  const watching = new AbortController();
  const watches = Array.from({ length: 1_100 }, async () => {
    const stream = clients.client.watch(nodes, { signal: watching.signal });
    for await (const { type } of stream) assert.fail(`no event was sent, but ${type} arrived`);
  });
  const over = Promise.allSettled(watches);
  await clock.advance(1_000);
  assert.equal(state.unanswered, 64, 'opened at the same time');
  const call = clients.client.get(nodes, { name: 'n' }).catch(() => undefined);
  await clock.advance(0);
  assert.equal(state.unanswered, 65);
  await clock.advance(100_000);
  watching.abort(new Error('over'));
  await Promise.all([over, call]);
  assert.deepEqual(terms, ['waits', 'leads']);
  stop();
  await ended;
});
