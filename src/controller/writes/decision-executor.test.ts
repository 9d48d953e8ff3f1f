import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodes, pods } from '../../kube/index.ts';
import type { DaemonRollout } from '../../words/index.ts';
import { daemonRollouts } from '../status/daemon-rollout.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { scenario } from '../testing/scenario.ts';

const updated = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index + 1}`, 'v2']));

describe('a reservation', () => {
  it(
    'is written before it is executed, and updates each node once',
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
    'covers with one write all slots that become free within 100 ms',
    scenario(async ({ settled, cluster, clock, api, requests }) => {
      await settled(4, '100%', { 'edgeset.io/node-selector': 'go=yes', 'edgeset.io/first-wave': '100%' });
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
    'that loses against another leader is not executed',
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
      `whose write got no response is read again before anything else (it ${happened ? 'happened' : 'did not happen'})`,
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
    'for which the budget has no more room by then is not written',
    scenario(async ({ settled, cluster, api, clock, beforeReservation, mostDown }) => {
      await settled(4, '100%');
      await beforeReservation('v2');
      const refused = api.fault('replace', 'daemonrollouts', { kind: 'refuse', code: 'Invalid' });
      await clock.advance(10);
      assert.equal(refused.fired, 1);
      cluster.annotate({ 'apps.openyurt.io/max-unavailable': '1' });
      const since = clock.now();
      await clock.advance(60_000);
      const written = api.calls
        .filter(({ verb, plural, at }) => verb === 'replace' && plural === 'daemonrollouts' && at > since)
        .map(({ body }) => (body as DaemonRollout).status?.reservations?.length ?? 0);
      assert.ok(
        written.length > 0 && written.every((count) => count <= 1),
        `reservations in each write: ${written.join(' ')}`,
      );
      assert.equal(mostDown(), 1);
      assert.deepEqual(cluster.tags(), updated(4));
    }),
  );

  it(
    'whose write is refused is retried with back-off, however many events come',
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

describe('an update', () => {
  for (const happened of [true, false])
    it(
      `whose response was lost is retried with the same preconditions (it ${happened ? 'happened' : 'did not happen'})`,
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
    'of a pod that has changed since is decided and reserved again',
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
    'that did not reach the API server is not reported as refused',
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
      `is not sent after ${what}, even if its slot was written meanwhile`,
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
    'is not sent once the template has changed again and its revision is unknown',
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
