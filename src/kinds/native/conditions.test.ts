import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { scenario } from '../../controller/testing/index.ts';
import { daemonSets } from '../../kube/index.ts';

const STRATEGY = 'apps.openyurt.io/update-strategy';
const app = { namespace: 'edge', name: 'app' };

const conditionsOf = ({ status }: DaemonSet): Record<string, string> =>
  Object.fromEntries((status?.conditions ?? []).map(({ type, status: is, reason }) => [type, `${is} ${reason}`]));

const atRest = {
  Ready: 'True AllOnlineNodesUpdated',
  Reconciling: 'False AllOnlineNodesUpdated',
  Stalled: 'False NotStalled',
  Paused: 'False NotPaused',
};

describe('conditions of a native DaemonSet', () => {
  it(
    'follow the rollout and name the generation that they are about, in a few writes and none at rest',
    scenario(async ({ settled, clock, cluster, api, requests }) => {
      await settled(5, '1');
      const [before] = cluster.getSet().status?.conditions ?? [];
      assert.deepEqual(conditionsOf(cluster.getSet()), atRest);
      const since = clock.now();
      await clock.advance(600_000);
      assert.deepEqual(requests(since), []);
      const written = api.sent('patch', 'daemonsets/status').length;
      cluster.setImage('v2');
      await clock.advance(1_000);
      const { status, metadata } = cluster.getSet();
      assert.equal(status?.conditions?.find(({ type }) => type === 'Reconciling')?.status, 'True');
      assert.equal(
        status.conditions.find(({ type }) => type === 'Ready')?.message,
        `Observed generation ${metadata?.generation}.`,
      );
      await clock.advance(60_000);
      assert.deepEqual(conditionsOf(cluster.getSet()), atRest);
      const [after] = cluster.getSet().status?.conditions ?? [];
      assert.notEqual(after?.lastTransitionTime, before?.lastTransitionTime);
      const writes = api.sent('patch', 'daemonsets/status').length - written;
      assert.equal(writes, 2, 'its beginning and its end');
    }),
  );

  it(
    'are about each new generation at once, however many there are in a row',
    scenario(async ({ settled, clock, cluster }) => {
      await settled(5, '1');
      for (let change = 0; change < 8; change += 1) {
        cluster.setImage(`next${change}`);
        await clock.advance(200);
        const { status, metadata } = cluster.getSet();
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        assert.deepEqual(
          [ready?.status, ready?.message],
          ['False', `Observed generation ${metadata?.generation}.`],
          `after change ${change}`,
        );
      }
    }),
  );

  it(
    'are removed when the DaemonSet opts out, and those of others are left alone',
    scenario(async ({ settled, clock, cluster, api, status }) => {
      await settled(2, '1');
      const theirs = { type: 'Audited', status: 'True', reason: 'Fine', message: '' };
      api.objects.patch(daemonSets, app, { status: { conditions: [theirs] } });
      await clock.advance(10_000);
      cluster.annotate({ [STRATEGY]: null });
      await clock.advance(10_000);
      assert.deepEqual(conditionsOf(cluster.getSet()), { Audited: 'True Fine' });
      assert.equal(status().summary, 'Not managed');
    }),
  );

  it(
    'are removed even if the DaemonSet opted out while no manager ran',
    scenario(async ({ settled, manage, clock, cluster }) => {
      const manager = await settled(2, '1');
      await manager.stop();
      cluster.annotate({ [STRATEGY]: null });
      manage('m2').lead();
      await clock.advance(10_000);
      assert.deepEqual(conditionsOf(cluster.getSet()), {});
    }),
  );

  it(
    'that the API server refuses are tried again with back-off, and hold no rollout',
    scenario(async ({ settled, clock, cluster, api }) => {
      const manager = await settled(2, '1');
      const refused = api.fault(
        'patch',
        'daemonsets/status',
        { kind: 'refuse', code: 'Forbidden', status: 403 },
        { times: 100 },
      );
      cluster.setImage('v2');
      await clock.advance(120_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2' });
      assert.ok(refused.fired >= 2 && refused.fired <= 12, `${refused.fired} tries`);
      assert.ok(manager.lines.length >= 1 && manager.lines.length <= refused.fired, `${manager.lines.length} warnings`);
      refused.end();
      await clock.advance(300_000);
      assert.deepEqual(conditionsOf(cluster.getSet()), atRest);
    }),
  );

  it(
    'are written on what was read, and once, while the watch is behind',
    scenario(async ({ settled, clock, cluster, api }) => {
      await settled(2, '1');
      api.silence('daemonsets');
      const written = api.sent('patch', 'daemonsets/status').length;
      cluster.annotate({ unrelated: 'yes' });
      cluster.setPodReady(cluster.podOn('n1')?.metadata?.name ?? '', false);
      await clock.advance(30_000);
      assert.equal(conditionsOf(cluster.getSet()).Ready, 'False InProgress');
      assert.equal(api.sent('patch', 'daemonsets/status').length, written + 2, 'the first was refused');
    }),
  );

  it(
    'of a pod that comes and goes cost one write a second, after a few',
    scenario(async ({ settled, clock, cluster, api }) => {
      await settled(2, '1');
      const written = api.sent('patch', 'daemonsets/status').length;
      for (let round = 0; round < 60; round += 1) {
        cluster.setPodReady(cluster.podOn('n1')?.metadata?.name ?? '', round % 2 === 1);
        await clock.advance(500);
      }
      const writes = api.sent('patch', 'daemonsets/status').length - written;
      assert.ok(writes >= 30 && writes <= 39, `${writes} writes in 30 s`);
    }),
  );
});
