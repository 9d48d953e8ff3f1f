import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods } from '../../kube/index.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { announcements, onEveryNode, scenario } from '../testing/scenario.ts';

const STRATEGY = 'apps.openyurt.io/update-strategy';

describe('a response that arrives after its pod is gone', () => {
  it(
    'to an announcement does not restore the pod in the ledger',
    scenario(async (s) => {
      const { settled, cluster, clock, api, condition, status } = s;
      await settled(2, '1', { [STRATEGY]: 'ota' });
      const name = cluster.podOn('n1')?.metadata?.name ?? '';
      const late = api.fault('patch', 'pods', { kind: 'late' }, { name });
      cluster.setImage('v2');
      await clock.advance(1_000);
      // The owner updates at once, and the new pod exists before the response.
      api.objects.remove(pods, { namespace: NAMESPACE, name });
      await clock.advance(5_000);
      late.release();
      await clock.advance(10_000);
      assert.deepEqual(announcements(s), { ...onEveryNode('True NewRevision v2', 2), n1: 'False UpToDate v2' });
      assert.equal(status().nodes?.updated, 1);
      api.objects.delete(pods, { namespace: NAMESPACE, name: cluster.podOn('n2')?.metadata?.name ?? '' });
      await clock.advance(10_000);
      assert.equal(condition('Complete')?.status, 'True');
    }),
  );

  it(
    'to a fence does not restore the pod in the ledger',
    scenario(async (s) => {
      const { settled, cluster, clock, api, condition } = s;
      await settled(1, '1');
      const name = cluster.podOn('n1')?.metadata?.name ?? '';
      api.fault('delete', 'pods', { kind: 'lose', happened: false }, { name });
      const late = api.fault('patch', 'pods', { kind: 'late' }, { name });
      await s.beforeReservation('v2');
      await clock.advance(200);
      cluster.annotate({ 'edgeset.io/paused': 'true' });
      await clock.advance(5_000);
      api.objects.remove(pods, { namespace: NAMESPACE, name });
      await clock.advance(1_000);
      late.release();
      await clock.advance(5_000);
      cluster.annotate({ 'edgeset.io/paused': null });
      await clock.advance(60_000);
      assert.equal(condition('Complete')?.status, 'True');
    }),
  );
});

const refused = { kind: 'refuse', code: 'Forbidden', status: 403 } as const;

describe('a retry when the clock is set back by an hour', () => {
  it(
    'comes within minutes: an announcement',
    scenario(async (s) => {
      const { settled, cluster, clock, api } = s;
      await settled(2, '1', { [STRATEGY]: 'ota' });
      const name = cluster.podOn('n1')?.metadata?.name ?? '';
      const fault = api.fault('patch', 'pods', refused, { name, times: 1000 });
      cluster.setImage('v2');
      await clock.advance(20_000);
      fault.end();
      clock.jump(-3_600_000);
      await clock.advance(200_000);
      assert.deepEqual(announcements(s), onEveryNode('True NewRevision v2', 2));
    }),
  );

  it(
    'comes within minutes: a delete',
    scenario(async ({ settled, cluster, clock, api, condition }) => {
      await settled(2, '1');
      const name = cluster.podOn('n1')?.metadata?.name ?? '';
      const fault = api.fault('delete', 'pods', refused, { name, times: 1000 });
      cluster.setImage('v2');
      await clock.advance(20_000);
      fault.end();
      clock.jump(-3_600_000);
      await clock.advance(200_000);
      assert.equal(condition('Complete')?.status, 'True');
    }),
  );
});
