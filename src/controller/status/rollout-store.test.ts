import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock, type TestClock } from '../../../test/support/index.ts';
import { daemonSets, pods } from '../../kube/index.ts';
import { decide, newUpdate } from '../../rollout/index.ts';
import { silentLogger } from '../../runtime/index.ts';
import type { DaemonRollout } from '../../words/index.ts';
import { createRolloutEvents } from '../events/rollout-events.ts';
import type { DaemonSetView } from '../kind.ts';
import { createTestApi, type TestApi } from '../testing/api.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { createTestLedger, createTestRecorder, testRef } from '../testing/fixtures.ts';
import { scenario } from '../testing/scenario.ts';
import { daemonRollouts } from './daemon-rollout.ts';
import { createRolloutStore } from './rollout-store.ts';

const { signal } = new AbortController();
const rolloutRef = { namespace: 'edge', name: testRef.rolloutName };

const createProcess = (api: TestApi, clock: TestClock, identity: string) => {
  const ledger = createTestLedger(clock, ['n1', 'n2']);
  const { recorder, reasons } = createTestRecorder();
  /** What metrics received. */
  const seen: string[] = [];
  const store = createRolloutStore({
    client: api.client,
    daemonSet: testRef,
    ledger,
    events: createRolloutEvents(recorder, testRef),
    metrics: { reserved: (result) => void seen.push(result), statusWritten: () => void seen.push('status') },
    env: { clock, log: silentLogger },
    identity,
  });
  const viewOf = (generation: number) => ({ generation, policy: { kind: 'on', hash: 'h' } }) as DaemonSetView;
  const decision = () => decide(ledger, undefined, clock.now());
  return {
    ledger,
    store,
    seen,
    reasons,
    async load(): Promise<void> {
      await store.load(signal);
      // A new rollout from h1 to h2, unless the DaemonRollout has one.
      if (ledger.state.target) return;
      ledger.setTarget({ name: 'app-1', hash: 'h1', number: 1 }, clock.now());
      this.setTarget(2);
    },
    setTarget(number: number): void {
      ledger.setTarget({ name: `app-${number}`, hash: `h${number}`, number }, clock.now());
      ledger.tick(clock.now());
    },
    /** Another generation makes another status. */
    write: (generation = 1) => store.write(decision(), viewOf(generation), signal),
    writeWhenDue: (generation = 1) => store.writeWhenDue(decision(), viewOf(generation), signal),
    reserve(node: string): void {
      // A restored ledger learns the target from its own watch.
      this.setTarget(2);
      const pod = ledger.get(node)?.pods[0]?.facts;
      assert.ok(pod);
      store.reserve(node, newUpdate({ pod }, ledger.state.rollout, clock.now()), clock.now());
    },
    async reserveAndWrite(node: string): Promise<void> {
      this.reserve(node);
      await this.write();
    },
  };
};

const prepare = () => {
  const clock = createTestClock();
  const api = createTestApi(clock);
  const saved = () => (api.objects.all(daemonRollouts)[0] as DaemonRollout | undefined)?.status;
  return {
    api,
    clock,
    start: (identity: string) => createProcess(api, clock, identity),
    leader: () => saved()?.leader,
    writes: () => api.sent('replace', 'daemonrollouts').length,
  };
};

const loaded = async () => {
  const parts = prepare();
  const process = parts.start('m1');
  await process.load();
  return { ...parts, process };
};

describe('loading', () => {
  it('of open slots of another process requires a write before anything is executed', async () => {
    const { start, leader, process: first } = await loaded();
    await first.reserveAndWrite('n1');
    const second = start('m2');
    await second.load();
    assert.equal(second.ledger.get('n1')?.update?.state, 'inherited');
    assert.equal(second.store.unwritten, true);
    await second.write();
    assert.equal(leader(), 'm2');
    await assert.rejects(first.reserveAndWrite('n2'), /version/, 'a process that slept can reserve nothing');
    await first.load();
    assert.equal(first.store.unwritten, true, 'and must write first, too');
  });

  it('needs no write if no slot is open', async () => {
    const { start, leader, process: first } = await loaded();
    await first.reserveAndWrite('n1');
    first.ledger.noteEvent('n1', 'confirmed', 0);
    await first.write();
    const second = start('m2');
    await second.load();
    assert.equal(second.store.unwritten, false);
    await second.write();
    assert.equal(leader(), 'm1', 'a status without reservations keeps the name of the leader');
  });

  it('happens once, and again after another process has written or a response was lost', async () => {
    const { process, api } = await loaded();
    await process.load();
    assert.equal(api.sent('get', 'daemonrollouts').length, 1);
    api.fault('replace', 'daemonrollouts', { kind: 'lose', happened: true });
    await assert.rejects(process.write());
    await process.load();
    assert.equal(api.sent('get', 'daemonrollouts').length, 2);
    await process.reserveAndWrite('n1');
    api.fault('replace', 'daemonrollouts', { kind: 'refuse', code: 'TooManyRequests', status: 429 });
    process.reserve('n2');
    await assert.rejects(process.write());
    assert.equal(process.store.unwritten, true, 'a refusal changes nothing');
    await process.load();
    assert.equal(api.sent('get', 'daemonrollouts').length, 2);
  });

  it('drops slots that were never written', async () => {
    const { process, api } = await loaded();
    await process.write();
    api.fault('replace', 'daemonrollouts', { kind: 'lose', happened: false });
    await assert.rejects(process.reserveAndWrite('n1'));
    await process.load();
    assert.equal(process.ledger.get('n1')?.update, undefined);
    assert.equal(process.store.unwritten, false);
  });

  it('starts over after a release', async () => {
    const { process, api } = await loaded();
    process.reserve('n1');
    process.store.release();
    assert.equal(process.store.unwritten, false);
    await process.load();
    assert.equal(api.sent('get', 'daemonrollouts').length, 2);
  });
});

describe('a DaemonRollout that is deleted', () => {
  it('is created again with what the ledger holds', async () => {
    const { process, api } = await loaded();
    await process.reserveAndWrite('n1');
    api.objects.remove(daemonRollouts, rolloutRef);
    await assert.rejects(process.write(2));
    await process.load();
    assert.equal(process.ledger.get('n1')?.update?.state, 'reserved');
    assert.equal(process.store.unwritten, true);
    await process.write();
    assert.equal(api.objects.all(daemonRollouts).length, 1);
  });

  it('and created by another leader replaces what the ledger holds', async () => {
    const { start, api, process: first } = await loaded();
    await first.reserveAndWrite('n1');
    api.objects.remove(daemonRollouts, rolloutRef);
    first.store.forget();
    const second = start('m2');
    await second.load();
    await second.reserveAndWrite('n2');
    await first.load();
    assert.equal(first.ledger.get('n1')?.update, undefined);
    assert.equal(first.ledger.get('n2')?.update?.state, 'inherited');
  });
});

describe('a status', () => {
  it('that has not changed is not written, unless it reserves', async () => {
    const { clock, process, writes, leader } = await loaded();
    await process.write();
    await clock.advance(1_000);
    assert.equal(await process.writeWhenDue(), Number.POSITIVE_INFINITY);
    assert.equal(writes(), 1);
    await process.reserveAndWrite('n1');
    assert.equal(writes(), 2);
    assert.equal(leader(), 'm1');
    process.reserve('n1');
    await process.write();
    assert.equal(writes(), 3, 'the same reservation is written again');
    await process.write(2);
    assert.equal(writes(), 4);
    assert.deepEqual(process.seen, ['status', 'written', 'status', 'written', 'status', 'status']);
  });

  it('may be written a second after the last one, and at once if the clock was set back', async () => {
    const { clock, process, writes } = await loaded();
    assert.equal(await process.writeWhenDue(), Number.POSITIVE_INFINITY);
    assert.equal(writes(), 1);
    assert.equal(await process.writeWhenDue(2), clock.now() + 1_000);
    assert.equal(writes(), 1);
    clock.jump(-600_000);
    assert.equal(await process.writeWhenDue(2), Number.POSITIVE_INFINITY);
    assert.equal(writes(), 2);
  });

  it('is built once per second also while nothing changes: it grows with the updates in flight', async () => {
    const { clock, process, writes } = await loaded();
    await process.write();
    await clock.advance(1_000);
    assert.equal(await process.writeWhenDue(), Number.POSITIVE_INFINITY);
    assert.equal(writes(), 1);
    assert.equal(await process.writeWhenDue(2), clock.now() + 1_000);
  });

  it('that could not be written causes no Events and does not count as written', async () => {
    const { api, process, writes } = await loaded();
    api.fault('replace', 'daemonrollouts', { kind: 'refuse', code: 'Forbidden', status: 403 });
    await assert.rejects(process.reserveAndWrite('n1'));
    assert.deepEqual(process.seen, ['failed']);
    assert.deepEqual(process.reasons(), []);
    assert.equal(await process.writeWhenDue(), Number.POSITIVE_INFINITY, 'it is due');
    assert.equal(writes(), 2);
    assert.deepEqual(process.reasons(), ['RolloutStarted']);
  });

  it('causes Events once although its response was lost', async () => {
    const { api, process } = await loaded();
    await process.write();
    const before = process.reasons().length;
    process.setTarget(3);
    api.fault('replace', 'daemonrollouts', { kind: 'lose', happened: true });
    await assert.rejects(process.write());
    await process.load();
    await process.write(2);
    await process.write(3);
    assert.deepEqual(process.reasons().slice(before), ['RolloutStarted']);
  });

  it('that another process has written meanwhile causes no Events after a release', async () => {
    const { api, clock, process } = await loaded();
    await process.write();
    const before = process.reasons().length;
    process.store.release();
    const other = createProcess(api, clock, 'm2');
    await other.load();
    other.setTarget(3);
    await other.write();
    assert.deepEqual(other.reasons(), ['RolloutStarted']);
    await process.load();
    process.setTarget(3);
    await process.write(2);
    assert.deepEqual(process.reasons().slice(before), []);
  });
});

describe('the DaemonRollout of a running rollout', () => {
  it(
    'is not written while nothing changes, and otherwise once per second after a few writes',
    scenario(async ({ settled, cluster, api, clock, requests, status }) => {
      await settled(3, '1');
      const before = api.calls.length;
      await clock.advance(600_000);
      assert.equal(api.calls.length, before, 'requests at rest');
      cluster.nativeController.creates = false;
      for (const most of [19, 11]) {
        const since = clock.now();
        // Never in step with the seconds: the last write must have the last state.
        for (let round = 0; round < 77; round += 1) {
          cluster.setPodReady(cluster.podOn('n2')?.metadata?.name ?? '', round % 2 === 1);
          await clock.advance(130);
        }
        const writes = requests(since).filter((request) => request === 'replace daemonrollouts').length;
        assert.ok(writes > 4 && writes <= most, `${writes} requests in 10 s`);
      }
      await clock.advance(2_000);
      assert.equal(status().nodes?.updated, 2);
    }),
  );

  it(
    'is created again with all its slots if it is deleted during the rollout',
    scenario(async ({ settled, cluster, api, clock, status, mostDown, deletes }) => {
      await settled(3, '1');
      cluster.setImage('v2');
      await clock.advance(1_000);
      assert.equal(deletes().length, 1);
      api.objects.remove(daemonRollouts, { namespace: NAMESPACE, name: 'app' });
      await clock.advance(100);
      assert.equal(status().reservations?.length, 1);
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
      assert.equal(mostDown(), 1);
      assert.equal(deletes().length, 3);
    }),
  );

  it(
    'of another DaemonSet stops everything until it is collected, and causes an Event',
    scenario(async ({ settled, cluster, api, clock, deletes, status }) => {
      const manager = await settled(2, '1');
      const old = status();
      api.objects.remove(daemonSets, { namespace: NAMESPACE, name: 'app' });
      cluster.createSet({ 'apps.openyurt.io/max-unavailable': '1' }, { tag: 'v2' });
      await clock.advance(60_000);
      assert.equal(deletes().length, 0);
      assert.deepEqual(status(), old);
      assert.equal(manager.reasons().filter((reason) => reason === 'DaemonRolloutConflict').length, 1);
      assert.deepEqual(manager.lines, []);
      api.objects.remove(daemonRollouts, { namespace: NAMESPACE, name: 'app' });
      await clock.advance(100);
      assert.equal(status().target?.hash, 'v2');
    }),
  );

  it(
    'of an API server that drops the reservations prevents every update',
    scenario(async ({ settled, cluster, api, clock, deletes }) => {
      await settled(2, '1');
      api.objects.prune('daemonrollouts', (object) => {
        const { reservations: _, ...status } = (object as { status?: { reservations?: unknown } }).status ?? {};
        return { ...object, status };
      });
      cluster.setImage('v2');
      await clock.advance(20_000);
      assert.equal(deletes().length, 0);
      api.objects.prune('daemonrollouts', undefined);
      await clock.advance(60_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2' });
    }),
  );

  it(
    'of an API server that drops a purely informative field is not written again and again',
    scenario(async ({ settled, cluster, api, clock }) => {
      await settled(2, '1');
      api.objects.prune('daemonrollouts', (object) => {
        const { causes: _, ...status } = (object as { status?: { causes?: unknown } }).status ?? {};
        return { ...object, status };
      });
      cluster.setImage('v2');
      await clock.advance(30_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2' });
      const before = api.calls.length;
      for (let round = 0; round < 20; round += 1) {
        const ref = { namespace: NAMESPACE, name: cluster.podOn('n1')?.metadata?.name ?? '' };
        api.objects.patch(pods, ref, { metadata: { annotations: { round: String(round) } } });
        await clock.advance(1_500);
      }
      assert.equal(api.calls.length, before);
    }),
  );
});
