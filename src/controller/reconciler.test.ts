import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodes, pods } from '../kube/index.ts';
import { daemonRollouts } from './index.ts';
import { NAMESPACE } from './testing/cluster.ts';
import { scenario } from './testing/scenario.ts';

const updated = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index + 1}`, 'v2']));

describe('a wave', () => {
  it(
    'is written before it is carried out, and leads to each node once',
    scenario(async ({ settled, cluster, api, clock, deletes, mostDown, status }) => {
      await settled(3, '1');
      cluster.setImage('v2');
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), updated(3));
      assert.equal(deletes().length, 3);
      assert.equal(mostDown(), 1);
      assert.deepEqual(status().reservations, []);
      assert.equal(api.sent('patch', 'pods').length, 0);
    }),
  );

  it(
    'takes in one write what becomes free within 100 ms',
    scenario(async ({ settled, cluster, clock, api, requests }) => {
      await settled(4, '100%', { 'edgeset.io/node-selector': 'go=yes' });
      cluster.setImage('v2');
      await clock.advance(3_000);
      const since = clock.now();
      for (const name of ['n1', 'n2', 'n3', 'n4']) {
        api.objects.patch(nodes, { name }, { metadata: { labels: { go: 'yes' } } });
        await clock.advance(25);
      }
      await clock.advance(50);
      const made = requests(since);
      assert.equal(made.filter((call) => call === 'delete pods').length, 4);
      assert.equal(made.filter((call) => call === 'replace daemonrollouts').length, 2);
    }),
  );

  it(
    'that is lost to another leader is not carried out',
    scenario(async ({ settled, cluster, api, clock, beforeReservation, deletes, requests, mostDown, status }) => {
      await settled(2, '1');
      await beforeReservation('v2');
      const write = api.fault('replace', 'daemonrollouts', { kind: 'hold' });
      await clock.advance(10);
      assert.equal(write.fired, 1);
      const theirs = cluster.rollout();
      assert.ok(theirs);
      api.objects.replace(daemonRollouts, { ...theirs, status: { ...theirs.status, summary: 'another' } }, 'status');
      const since = clock.now();
      write.release();
      await clock.advance(100);
      assert.equal(deletes().length, 0);
      await clock.advance(200);
      const made = requests(since);
      assert.ok(made.indexOf('get daemonrollouts') >= 0);
      assert.ok(made.indexOf('get daemonrollouts') < made.indexOf('delete pods'), made.join());
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), updated(2));
      assert.equal(mostDown(), 1);
      assert.deepEqual(status().reservations, []);
    }),
  );

  for (const happened of [true, false])
    it(
      `whose write got no answer is read again before anything else (it ${happened ? 'happened' : 'did not happen'})`,
      scenario(async ({ settled, cluster, api, clock, beforeReservation, requests, deletes, mostDown }) => {
        await settled(2, '1');
        await beforeReservation('v2');
        api.fault('replace', 'daemonrollouts', { kind: 'lose', happened });
        const since = clock.now();
        await clock.advance(1_000);
        const [lost, next] = requests(since);
        assert.deepEqual([lost, next], ['replace daemonrollouts', 'get daemonrollouts']);
        await clock.advance(20_000);
        assert.deepEqual(cluster.tags(), updated(2));
        assert.equal(deletes().length, 2);
        assert.equal(mostDown(), 1);
      }),
    );

  it(
    'whose write is refused is tried again, at a pace that events do not quicken',
    scenario(async ({ settled, cluster, api, clock, beforeReservation, deletes }) => {
      const manager = await settled(2, '1');
      await beforeReservation('v2');
      const refused = api.fault('replace', 'daemonrollouts', { kind: 'refuse', code: 'Invalid' }, { times: 1_000 });
      for (let round = 0; round < 600; round += 1) {
        cluster.setPodReady(cluster.podOn('n2')?.metadata?.name ?? '', round % 2 === 0);
        await clock.advance(100);
      }
      assert.equal(deletes().length, 0);
      assert.ok(refused.fired >= 5 && refused.fired <= 12, `${refused.fired} tries in a minute`);
      assert.ok(manager.lines.length <= 12, `${manager.lines.length} lines`);
      refused.end();
      cluster.setPodReady(cluster.podOn('n2')?.metadata?.name ?? '', true);
      await clock.advance(60_000);
      assert.deepEqual(cluster.tags(), updated(2));
    }),
  );
});

describe('an act', () => {
  for (const happened of [true, false])
    it(
      `whose answer was lost is settled under the same preconditions (it ${happened ? 'happened' : 'did not happen'})`,
      scenario(async ({ settled, cluster, api, clock, deletes, mostDown }) => {
        await settled(2, '1');
        const name = cluster.podOn('n1')?.metadata?.name ?? '';
        api.fault('delete', 'pods', { kind: 'lose', happened }, { name });
        cluster.setImage('v2');
        await clock.advance(20_000);
        assert.deepEqual(cluster.tags(), updated(2));
        const tries = deletes().filter((call) => call.name === name);
        assert.equal(tries.length, happened ? 1 : 2);
        for (const call of tries) assert.deepEqual(call.body, tries[0]?.body);
        assert.equal(mostDown(), 1);
      }),
    );

  it(
    'on a pod that has changed since is decided, written and made anew',
    scenario(async ({ settled, cluster, api, clock, beforeReservation, deletes, requests }) => {
      await settled(1, '1');
      await beforeReservation('v2');
      const held = api.fault('delete', 'pods', { kind: 'hold' });
      await clock.advance(10);
      assert.equal(held.fired, 1);
      const name = cluster.podOn('n1')?.metadata?.name ?? '';
      api.objects.patch(pods, { namespace: NAMESPACE, name }, { metadata: { annotations: { touched: 'yes' } } });
      const since = clock.now();
      held.release();
      await clock.advance(200);
      const made = requests(since);
      assert.deepEqual(made.slice(0, 3), ['get pods', 'replace daemonrollouts', 'delete pods']);
      const [first, second] = deletes();
      assert.notDeepEqual(first?.body, second?.body);
      await clock.advance(10_000);
      assert.deepEqual(cluster.tags(), updated(1));
    }),
  );

  it(
    'that is refused backs off on its node alone, and is told once',
    scenario(async ({ settled, cluster, api, clock, condition }) => {
      const manager = await settled(3, '1');
      const name = cluster.podOn('n1')?.metadata?.name ?? '';
      const refused = api.fault(
        'delete',
        'pods',
        { kind: 'refuse', code: 'Forbidden', status: 403 },
        { name, times: 4 },
      );
      cluster.setImage('v2');
      await clock.advance(12_000);
      assert.deepEqual(cluster.tags(), { n1: 'v1', n2: 'v2', n3: 'v2' });
      assert.ok(refused.fired <= 4);
      await clock.advance(60_000);
      assert.deepEqual(cluster.tags(), updated(3));
      assert.equal(condition('Complete')?.status, 'True');
      assert.equal(manager.reasons().filter((reason) => reason === 'FailedDelete').length, 1);
    }),
  );

  it(
    'that did not reach the API server is not told as its refusal',
    scenario(async ({ settled, cluster, api, clock }) => {
      const manager = await settled(1, '1');
      api.fault('delete', 'pods', { kind: 'refuse', code: 'Transport', status: 0 }, { times: 2 });
      cluster.setImage('v2');
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), updated(1));
      assert.ok(!manager.reasons().includes('FailedDelete'));
    }),
  );

  const changes: [string, Record<string, string | null>][] = [
    ['a pause', { 'edgeset.io/paused': 'true' }],
    ['another node selector', { 'edgeset.io/node-selector': 'go=yes' }],
    ['a zero budget', { 'apps.openyurt.io/max-unavailable': '0' }],
    ['an invalid policy', { 'apps.openyurt.io/max-unavailable': 'many' }],
    ['the strategy ota', { 'apps.openyurt.io/update-strategy': 'ota' }],
    ['opting out', { 'apps.openyurt.io/update-strategy': null }],
  ];
  for (const [what, annotations] of changes)
    it(
      `is not sent after ${what} was seen, although its slot was written meanwhile`,
      scenario(async ({ settled, cluster, api, clock, beforeReservation, deletes, status }) => {
        await settled(2, '1');
        await beforeReservation('v2');
        const write = api.fault('replace', 'daemonrollouts', { kind: 'hold' });
        await clock.advance(10);
        assert.equal(write.fired, 1);
        cluster.annotate(annotations);
        await clock.advance(10);
        write.release();
        await clock.advance(30_000);
        assert.equal(deletes().length, 0);
        if (what !== 'opting out') assert.deepEqual(status().reservations, []);
      }),
    );

  it(
    'is not sent once the template has changed again and its revision is not known',
    scenario(async ({ settled, cluster, api, clock, beforeReservation, deletes, open }) => {
      await settled(2, '1');
      await beforeReservation('v2');
      const write = api.fault('replace', 'daemonrollouts', { kind: 'hold' });
      await clock.advance(10);
      cluster.nativeController.observes = false;
      cluster.setImage('v3');
      await clock.advance(10);
      write.release();
      await clock.advance(5_000);
      assert.equal(deletes().length, 0);
      cluster.record();
      cluster.acknowledge();
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), { n1: 'v3', n2: 'v3' });
      assert.deepEqual(open(), []);
    }),
  );
});

describe('the target', () => {
  it(
    'is not known from the status alone: the revision may arrive later',
    scenario(async ({ settled, cluster, clock, deletes }) => {
      await settled(1, '1');
      cluster.nativeController.observes = false;
      cluster.setImage('v2');
      cluster.acknowledge();
      await clock.advance(500);
      assert.equal(deletes().length, 0);
      cluster.record();
      await clock.advance(10);
      assert.equal(deletes().length, 1);
    }),
  );

  it(
    'is read afresh when the watch keeps the revision back',
    scenario(async ({ settled, cluster, api, clock, deletes }) => {
      await settled(1, '1');
      api.silence('controllerrevisions');
      cluster.setImage('v2');
      await clock.advance(900);
      assert.equal(deletes().length, 0);
      await clock.advance(1_000);
      assert.equal(deletes().length, 1);
      assert.equal(api.sent('list', 'controllerrevisions').length, 1);
      await clock.advance(60_000);
      assert.equal(api.sent('list', 'controllerrevisions').length, 1);
      assert.deepEqual(cluster.tags(), updated(1));
    }),
  );

  it(
    'that was being read when the template changed again is not acted on',
    scenario(async ({ settled, cluster, api, clock, deletes, status }) => {
      await settled(1, '1');
      api.silence('controllerrevisions');
      const read = api.fault('list', 'controllerrevisions', { kind: 'hold' });
      cluster.setImage('v2');
      await clock.advance(2_000);
      assert.equal(read.fired, 1);
      cluster.nativeController.observes = false;
      cluster.setImage('v3');
      await clock.advance(10);
      read.release();
      await clock.advance(20_000);
      assert.equal(deletes().length, 0);
      assert.equal(status().target?.hash, 'v1', 'no wave was reserved for it either');
    }),
  );

  it(
    'is the newest revision also where its template never equals that of the DaemonSet',
    scenario(async ({ settled, cluster, api, clock }) => {
      await settled(2, '1');
      cluster.nativeController.defaults = true;
      cluster.setImage('v2');
      await clock.advance(30_000);
      assert.deepEqual(cluster.tags(), updated(2));
      assert.equal(api.sent('list', 'controllerrevisions').length, 1);
    }),
  );
});
