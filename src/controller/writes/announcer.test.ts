import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { pods } from '../../kube/index.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { announcements, onEveryNode, patches, type Scenario, scenario } from '../testing/scenario.ts';

const STRATEGY = 'apps.openyurt.io/update-strategy';
const ota = { [STRATEGY]: 'ota' };

/** As an agent does for its owner. */
const byOwner = ({ api, cluster }: Scenario, node: string): void =>
  void api.objects.delete(pods, { namespace: NAMESPACE, name: cluster.podOn(node)?.metadata?.name ?? '' });

describe('the condition PodNeedUpgrade', () => {
  it(
    'stands beside the other conditions, and is patched alone, with the UID of its pod',
    scenario(async (s) => {
      const { settled, cluster, clock, api } = s;
      await settled(1, '1', ota);
      const pod = cluster.podOn('n1');
      const other = { type: 'Other', status: 'True', reason: 'Mine' };
      const status = { ...pod?.status, conditions: [...(pod?.status?.conditions ?? []), other] };
      api.objects.replace(pods, { ...pod, status }, 'status');
      cluster.setImage('v2');
      await clock.advance(5_000);
      const types = cluster.podOn('n1')?.status?.conditions?.map(({ type }) => type);
      assert.deepEqual(types?.toSorted(), ['Other', 'PodNeedUpgrade', 'Ready']);
      const { body } = api.calls.findLast(({ verb, plural }) => verb === 'patch' && plural === 'pods') ?? {};
      const { metadata, status: sent, ...rest } = body as Pod;
      assert.deepEqual([metadata, rest], [{ uid: pod?.metadata?.uid }, {}]);
      assert.deepEqual([Object.keys(sent ?? {}), sent?.conditions?.length], [['conditions'], 1]);
    }),
  );

  it(
    'that is refused for some pods does not delay the others',
    scenario(async (s) => {
      const { settled, cluster, clock, api } = s;
      await settled(20, '1', ota);
      const names = ['n1', 'n2'].map((node) => cluster.podOn(node)?.metadata?.name ?? '');
      const refuse = { kind: 'refuse', code: 'Forbidden', status: 403 } as const;
      const faults = names.map((name) => api.fault('patch', 'pods', refuse, { name, times: 1000 }));
      cluster.setImage('v2');
      await clock.advance(500);
      const announced = Object.values(announcements(s)).filter((text) => text === 'True NewRevision v2');
      assert.equal(announced.length, 18);
      for (const fault of faults) fault.end();
    }),
  );

  it(
    'is not written again while the watch is behind',
    scenario(async (s) => {
      const { settled, cluster, clock, api } = s;
      await settled(3, '1', ota);
      api.silence('pods');
      cluster.setImage('v2');
      await clock.advance(20_000);
      assert.deepEqual(announcements(s), onEveryNode('True NewRevision v2'));
      assert.equal(patches(s), 6);
      api.silence('pods', false);
      await clock.advance(20_000);
      assert.equal(patches(s), 6);
    }),
  );

  it(
    'is not written again if only the response was lost, and is if the request was',
    scenario(async (s) => {
      const { settled, cluster, clock, api } = s;
      await settled(2, '1', ota);
      api.fault('patch', 'pods', { kind: 'lose', happened: true });
      api.fault('patch', 'pods', { kind: 'lose', happened: false });
      cluster.setImage('v2');
      await clock.advance(10_000);
      assert.deepEqual(announcements(s), onEveryNode('True NewRevision v2', 2));
      assert.equal(patches(s), 5, 'one more than two per revision');
    }),
  );

  it(
    'is not written to a terminating pod, nor while the template is not observed',
    scenario(async (s) => {
      const { settled, cluster, clock } = s;
      await settled(2, '1', ota);
      cluster.setNodeReady('n1', false);
      byOwner(s, 'n1');
      await clock.advance(10);
      const before = patches(s);
      cluster.nativeController.observes = false;
      cluster.setImage('v2');
      await clock.advance(5_000);
      assert.equal(patches(s), before);
      cluster.record();
      cluster.acknowledge();
      await clock.advance(5_000);
      assert.deepEqual(announcements(s), { n1: 'False UpToDate v1', n2: 'True NewRevision v2' });
    }),
  );

  it(
    'says Halted once the version fails on as many nodes as the breaker allows, until the user resumes',
    scenario(async (s) => {
      const { settled, cluster, clock, condition, status, deletes } = s;
      const manager = await settled(4, '1', {
        ...ota,
        'edgeset.io/failure-threshold': '2',
        'edgeset.io/progress-deadline-seconds': '30',
      });
      cluster.setImage('bad2');
      await clock.advance(5_000);
      byOwner(s, 'n1');
      await clock.advance(40_000);
      assert.equal(condition('Halted')?.status, 'False');
      byOwner(s, 'n2');
      await clock.advance(40_000);
      assert.equal(condition('Halted')?.status, 'True');
      assert.equal(status().summary, 'Halted: 2 failed');
      assert.ok(manager.reasons().includes('RolloutHalted'));
      const halted = {
        n1: 'False UpToDate bad2',
        n2: 'False UpToDate bad2',
        n3: 'True Halted bad2',
        n4: 'True Halted bad2',
      };
      assert.deepEqual(announcements(s), halted);
      assert.deepEqual(status().owners, { asked: 0, nodes: [] });

      await manager.stop();
      s.manage('m2').lead();
      await clock.advance(10_000);
      assert.deepEqual(announcements(s), halted, 'a successor knows');
      cluster.annotate({ 'edgeset.io/resume': 'bad2' });
      await clock.advance(5_000);
      assert.deepEqual(announcements(s), { ...halted, n3: 'True NewRevision bad2', n4: 'True NewRevision bad2' });
      assert.equal(deletes().length, 0);
    }),
  );
});

describe('announcements in flight', () => {
  for (const [what, kind] of [
    ['requests', 'hold'],
    ['responses', 'late'],
  ] as const)
    it(
      `when the user resumes do not leave a pod halted: late ${what}`,
      scenario(async (s) => {
        const { settled, cluster, clock, api } = s;
        await settled(6, '1', {
          ...ota,
          'edgeset.io/failure-threshold': '2',
          'edgeset.io/progress-deadline-seconds': '30',
        });
        cluster.setImage('bad2');
        await clock.advance(5_000);
        for (const node of ['n1', 'n2'])
          api.objects.delete(pods, { namespace: NAMESPACE, name: cluster.podOn(node)?.metadata?.name ?? '' });
        await clock.advance(20_000);
        const slow = api.fault('patch', 'pods', { kind }, { times: 4 });
        await clock.advance(27_000);
        assert.equal(slow.fired, 4, 'Halted is in flight');
        cluster.annotate({ 'edgeset.io/resume': 'bad2' });
        await clock.advance(3_000);
        slow.release();
        await clock.advance(60_000);
        const current = { n1: 'False UpToDate bad2', n2: 'False UpToDate bad2' };
        assert.deepEqual(announcements(s), {
          ...onEveryNode('True NewRevision bad2', 6),
          ...current,
        });
      }),
    );
});

describe('the condition PodNeedUpgrade, while the watch is behind', () => {
  it(
    'is read, not written again, if the response was lost',
    scenario(async (s) => {
      const { settled, cluster, clock, api } = s;
      await settled(2, '1', ota);
      api.silence('pods');
      api.fault('patch', 'pods', { kind: 'lose', happened: true });
      api.fault('patch', 'pods', { kind: 'lose', happened: false });
      cluster.setImage('v2');
      await clock.advance(20_000);
      assert.deepEqual(announcements(s), onEveryNode('True NewRevision v2', 2));
      assert.equal(patches(s), 5, 'one more than two per revision: for the one that never arrived');
      api.silence('pods', false);
      await clock.advance(20_000);
      assert.equal(patches(s), 5);
    }),
  );

  it(
    'is not written again when another client changes the pod, delivered by the watch or not',
    scenario(async (s) => {
      const { settled, cluster, clock, api } = s;
      await settled(2, '1', ota);
      const report = (node: string, reason: string): void => {
        const name = cluster.podOn(node)?.metadata?.name ?? '';
        const condition = { type: 'PodImageReady', status: 'False', reason, message: 'controllerrevision: v2' };
        api.objects.patch(pods, { namespace: NAMESPACE, name }, { status: { conditions: [condition] } });
      };
      for (const silent of [false, true]) {
        api.silence('pods', silent);
        cluster.setImage(silent ? 'v3' : 'v2');
        // Before the patch is sent, in flight, and after its response.
        for (const reason of ['A', 'B', 'C', 'D', 'E', 'F']) {
          for (const node of ['n1', 'n2']) report(node, `${reason}${silent}`);
          await clock.advance(reason < 'D' ? 1 : 2_000);
        }
        assert.equal(patches(s), silent ? 6 : 4);
      }
      api.silence('pods', false);
      await clock.advance(20_000);
      assert.equal(patches(s), 6);
      assert.deepEqual(announcements(s), onEveryNode('True NewRevision v3', 2));
    }),
  );
});
