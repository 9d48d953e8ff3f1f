import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { createTestClock, settle } from '../../../test/support/index.ts';
import type { Clock } from '../../runtime/index.ts';
import { KubeError } from '../client/errors.ts';
import type { KubeClient, KubeObject, Resource } from '../client/types.ts';
import { testEnv } from '../testing/index.ts';
import { type LeaderElectionOptions, runLeaderElection } from './leader-election.ts';

/** One lease on a server, with faults for each candidate. */
const createServer = () => {
  let lease: Lease | undefined;
  let version = 0;
  const writes: Lease[] = [];
  const store = (object: Lease): Lease => {
    version += 1;
    lease = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    writes.push(lease);
    return lease;
  };
  const clientFor = (fault: () => Error | 'hang' | 'lost answer' | undefined): LeaderElectionOptions['client'] => {
    const guarded = async (signal: AbortSignal | undefined, timeoutMs: number | undefined, work: () => Lease) => {
      const wrong = fault();
      if (wrong === 'hang') {
        await new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
          hung.add(() => reject(new KubeError('Timeout', `after ${timeoutMs}`, { happened: 'unknown' })));
        });
      }
      if (wrong instanceof Error) throw wrong;
      const result = work();
      if (wrong === 'lost answer') throw new KubeError('Transport', 'lost', { happened: 'unknown' });
      return result;
    };
    // The election asks for leases alone.
    const as = <T extends KubeObject>(_resource: Resource<T>, object: Promise<Lease>): Promise<T> =>
      object as unknown as Promise<T>;
    const client: Pick<KubeClient, 'get' | 'create' | 'replace'> = {
      get: (resource, _ref, options) =>
        as(
          resource,
          guarded(options?.signal, options?.timeoutMs, () => {
            if (lease === undefined) throw new KubeError('NotFound', 'none', { status: 404 });
            return lease;
          }),
        ),
      create: (resource, object, options) =>
        as(
          resource,
          guarded(options?.signal, options?.timeoutMs, () => {
            if (lease !== undefined) throw new KubeError('AlreadyExists', 'there', { status: 409 });
            return store(object as Lease);
          }),
        ),
      replace: (resource, object, options) =>
        as(
          resource,
          guarded(options?.signal, options?.timeoutMs, () => {
            if (object.metadata?.resourceVersion !== lease?.metadata?.resourceVersion)
              throw new KubeError('Conflict', 'changed', { status: 409 });
            return store(object as Lease);
          }),
        ),
    };
    return client;
  };
  const hung = new Set<() => void>();
  return {
    clientFor,
    writes,
    hung,
    get lease() {
      return lease;
    },
    put: store,
  };
};

const candidate = (
  server: ReturnType<typeof createServer>,
  clock: ReturnType<typeof createTestClock>,
  identity: string,
  skewMs = 0,
) => {
  const state = {
    leading: false,
    terms: 0,
    ended: false,
    leaders: [] as string[],
    fault: undefined as Error | 'hang' | 'lost answer' | undefined,
  };
  let letGo: () => void = () => undefined;
  const stop = new AbortController();
  const skewed: Clock = { now: () => clock.now() + skewMs, timer: (ms, fire) => clock.timer(ms, fire) };
  const done = runLeaderElection(
    {
      client: server.clientFor(() => state.fault),
      env: testEnv(skewed),
      namespace: 'a',
      name: 'l',
      identity,
      onNewLeader: (leader) => void state.leaders.push(leader),
      async onLeading(signal) {
        state.leading = true;
        state.terms += 1;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        state.leading = false;
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
      },
    },
    stop.signal,
  ).finally(() => {
    state.ended = true;
  });
  return { state, stop, done, windDown: () => letGo() };
};

test('the first candidate leads; its lease has microseconds and its duration, and is renewed every two seconds', async () => {
  const [server, clock] = [createServer(), createTestClock()];
  const one = candidate(server, clock, 'one');
  await settle();
  assert.equal(one.state.leading, true);
  assert.deepEqual(one.state.leaders, ['one']);
  const { spec } = server.lease ?? {};
  assert.equal(spec?.holderIdentity, 'one');
  assert.equal(spec?.leaseDurationSeconds, 15);
  assert.equal(spec?.leaseTransitions, 0);
  assert.match(spec?.renewTime ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  await clock.advance(20_000);
  assert.equal(server.writes.length, 11);
  assert.equal(server.lease?.spec?.acquireTime, spec?.acquireTime);
  one.stop.abort(new Error('over'));
  await settle();
  assert.equal(server.lease?.spec?.holderIdentity, 'one', 'not released before the work has wound down');
  assert.equal(one.state.ended, false);
  const writes = server.writes.length;
  await clock.advance(4_000);
  assert.ok(server.writes.length > writes, 'the lease is still renewed while the work winds down');
  one.windDown();
  await one.done;
  assert.equal(server.lease?.spec?.holderIdentity, '');
  assert.equal(clock.pending, 0);
});

test('a dead leader is replaced once its lease has not changed for its duration, whatever the clocks show', async () => {
  for (const skew of [-3_600_000, 0, 3_600_000]) {
    const [server, clock] = [createServer(), createTestClock()];
    const one = candidate(server, clock, 'one');
    const two = candidate(server, clock, 'two', skew);
    await settle();
    assert.deepEqual([one.state.leading, two.state.leading], [true, false]);
    await clock.advance(60_000);
    assert.equal(two.state.leading, false, 'a live leader keeps its place');
    one.state.fault = new KubeError('Transport', 'cut off');
    await clock.advance(11_000);
    assert.equal(one.state.leading, false, 'cut off, it stops before another may start');
    assert.equal(two.state.leading, false);
    await clock.advance(8_000);
    assert.equal(two.state.leading, true);
    assert.equal(server.lease?.spec?.leaseTransitions, 1);
    assert.deepEqual(two.state.leaders, ['one', 'two']);
    one.windDown();
    await one.done;
    two.stop.abort(new Error('over'));
    await settle();
    two.windDown();
    await two.done;
  }
});

test('the next attempt acquires a released lease at once', async () => {
  const [server, clock] = [createServer(), createTestClock()];
  const one = candidate(server, clock, 'one');
  await settle();
  const two = candidate(server, clock, 'two');
  await clock.advance(5_000);
  one.stop.abort(new Error('over'));
  await settle();
  one.windDown();
  await one.done;
  await clock.advance(2_400);
  assert.equal(two.state.leading, true);
  two.stop.abort(new Error('over'));
  await settle();
  two.windDown();
  await two.done;
});

test('releases the lease even if the last renewal was aborted after it had reached the server', async () => {
  const [server, clock] = [createServer(), createTestClock()];
  const one = candidate(server, clock, 'one');
  await settle();
  const before = server.writes.length;
  one.state.fault = 'lost answer';
  await clock.advance(2_000);
  assert.ok(server.writes.length > before, 'the renewal happened');
  one.state.fault = undefined;
  one.stop.abort(new Error('over'));
  await settle();
  one.windDown();
  await one.done;
  assert.equal(server.lease?.spec?.holderIdentity, '');
});

test('one failed renewal, or a lost response, does not end leadership; another holder does', async () => {
  const [server, clock] = [createServer(), createTestClock()];
  const one = candidate(server, clock, 'one');
  await settle();
  for (const fault of [new KubeError('InternalError', 'no', { status: 500 }), 'lost answer'] as const) {
    one.state.fault = fault;
    await clock.advance(4_000);
    one.state.fault = undefined;
    await clock.advance(10_000);
    assert.equal(one.state.leading, true);
  }
  const { lease } = server;
  assert.ok(lease);
  server.put({ ...lease, spec: { ...lease.spec, holderIdentity: 'thief', leaseDurationSeconds: 15 } });
  await clock.advance(3_000);
  assert.equal(one.state.leading, false);
  one.windDown();
  await one.done;
  assert.equal(server.lease?.spec?.holderIdentity, 'thief', "another's lease is not released");
});

test('a renewal that hangs ends leadership at the deadline, before another candidate may lead', async () => {
  const [server, clock] = [createServer(), createTestClock()];
  const one = candidate(server, clock, 'one');
  await settle();
  one.state.fault = 'hang';
  await clock.advance(2_500);
  // The client's own deadline is half of the time to renew.
  await clock.advance(5_000);
  for (const give of server.hung) give();
  await clock.advance(2_500);
  for (const give of server.hung) give();
  await settle();
  await clock.advance(1);
  assert.equal(one.state.leading, false);
  one.state.fault = undefined;
  one.windDown();
  await one.done;
});

test('keeps the lease while the API server refuses it with 429, and takes none that it could not read', async () => {
  const refused = new KubeError('TooManyRequests', 'busy', { status: 429 });
  const [server, clock] = [createServer(), createTestClock()];
  const one = candidate(server, clock, 'one');
  const two = candidate(server, clock, 'two');
  await settle();
  await clock.advance(10_000);
  one.state.fault = refused;
  // The other one has seen the last renewal.
  await clock.advance(3_000);
  two.state.fault = refused;
  await clock.advance(27_000);
  two.state.fault = undefined;
  await clock.advance(5_000);
  one.state.fault = undefined;
  await clock.advance(30_000);
  assert.deepEqual([one.state.terms, one.state.leading, two.state.terms], [1, true, 0]);

  one.state.fault = refused;
  await clock.advance(20_000);
  assert.equal(two.state.leading, true, 'a candidate that is not refused waits no longer than the lease');
  one.state.fault = undefined;
  await clock.advance(3_000);
  assert.equal(one.state.leading, false);
  for (const each of [one, two]) {
    each.stop.abort(new Error('over'));
    each.windDown();
  }
  await settle();
  two.windDown();
  await Promise.all([one.done, two.done]);
});

test('does not keep a lease when anything else than a refusal was the answer', async () => {
  const [server, clock] = [createServer(), createTestClock()];
  const one = candidate(server, clock, 'one');
  await settle();
  one.state.fault = new KubeError('TooManyRequests', 'busy', { status: 429 });
  await clock.advance(5_000);
  one.state.fault = new KubeError('Transport', 'cut off');
  await clock.advance(7_000);
  assert.equal(one.state.leading, false);
  one.windDown();
  await one.done;
});

test('refuses contradictory options', async () => {
  const options = {
    client: createServer().clientFor(() => undefined),
    env: testEnv(),
    namespace: 'a',
    name: 'l',
    identity: 'x',
    onLeading: async () => undefined,
  };
  const { signal } = new AbortController();
  await assert.rejects(runLeaderElection({ ...options, identity: '' }, signal), /identity/);
  await assert.rejects(runLeaderElection({ ...options, renewDeadlineMs: 15_000 }, signal), /renewDeadlineMs/);
  await assert.rejects(runLeaderElection({ ...options, retryPeriodMs: 10_000 }, signal), /retryPeriodMs/);
});
