import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { daemonRollouts } from '../controller/index.ts';
import { daemonSets, pods } from '../kube/index.ts';
import { conditionOf, everywhere, patches, said } from './testing/said.ts';
import { type Scene, scene } from './testing/scene.ts';
import { NAMESPACE } from './testing/world.ts';

const STRATEGY = 'apps.openyurt.io/update-strategy';
const ota = { [STRATEGY]: 'ota' };

/** As an agent does for its owner. */
const byOwner = ({ api, world }: Scene, node: string): void =>
  void api.objects.delete(pods, { namespace: NAMESPACE, name: world.podOn(node)?.metadata?.name ?? '' });

describe('the condition PodNeedUpgrade', () => {
  it(
    'is written once to each pod and revision, turned back with the template, and given to new pods',
    scene(async (s) => {
      const { settled, world, clock, deletes, condition, status } = s;
      await settled(3, '1', ota);
      assert.deepEqual(said(s), everywhere('False UpToDate v1'));
      assert.equal(patches(s), 3);
      const before = conditionOf(world.podOn('n1'))?.lastTransitionTime;
      world.setImage('v2');
      await clock.advance(5_000);
      assert.deepEqual(said(s), everywhere('True NewRevision v2'));
      assert.equal(patches(s), 6);
      assert.notEqual(conditionOf(world.podOn('n1'))?.lastTransitionTime, before);
      assert.equal(status().summary, 'Waiting for 3 owners');
      assert.deepEqual(status().owners, { asked: 3, nodes: ['n1', 'n2', 'n3'] });
      assert.equal(condition('Reconciling')?.status, 'False');

      byOwner(s, 'n2');
      await clock.advance(10_000);
      assert.deepEqual(said(s), { ...everywhere('True NewRevision v2'), n2: 'False UpToDate v2' });
      assert.equal(patches(s), 7);

      const turned = conditionOf(world.podOn('n1'))?.lastTransitionTime;
      world.setImage('v3');
      await clock.advance(5_000);
      assert.deepEqual(said(s), everywhere('True NewRevision v3'));
      assert.equal(conditionOf(world.podOn('n1'))?.lastTransitionTime, turned, 'its status has not changed');
      world.setImage('v1');
      await clock.advance(5_000);
      assert.deepEqual(said(s), { ...everywhere('False UpToDate v1'), n2: 'True NewRevision v1' });
      byOwner(s, 'n2');
      await clock.advance(10_000);
      assert.equal(condition('Complete')?.status, 'True');
      assert.equal(patches(s), 14);
      assert.equal(deletes().length, 0);
    }),
  );

  it(
    'stands beside the other conditions, and is patched alone, with the UID of its pod',
    scene(async (s) => {
      const { settled, world, clock, api } = s;
      await settled(1, '1', ota);
      const pod = world.podOn('n1');
      const other = { type: 'Other', status: 'True', reason: 'Mine' };
      const status = { ...pod?.status, conditions: [...(pod?.status?.conditions ?? []), other] };
      api.objects.replace(pods, { ...pod, status }, 'status');
      world.setImage('v2');
      await clock.advance(5_000);
      const types = world.podOn('n1')?.status?.conditions?.map(({ type }) => type);
      assert.deepEqual(types?.toSorted(), ['Other', 'PodNeedUpgrade', 'Ready']);
      const { body } = api.calls.findLast(({ verb, plural }) => verb === 'patch' && plural === 'pods') ?? {};
      const { metadata, status: sent, ...rest } = body as Pod;
      assert.deepEqual([metadata, rest], [{ uid: pod?.metadata?.uid }, {}]);
      assert.deepEqual([Object.keys(sent ?? {}), sent?.conditions?.length], [['conditions'], 1]);
    }),
  );

  it(
    'costs nothing at rest, nor when another process takes over',
    scene(async (s) => {
      const { settled, clock, manage, requests, world } = s;
      const first = await settled(3, '1', ota);
      world.setImage('v2');
      await clock.advance(5_000);
      const since = clock.now() + 1;
      await clock.advance(600_000);
      assert.deepEqual(requests(since), []);
      await first.stop();
      const second = manage('m2');
      second.lead();
      await clock.advance(60_000);
      const writes = requests(since).filter((request) => !/^(get|list) /.test(request));
      assert.deepEqual(writes, []);
    }),
  );

  it(
    'of one pod that is refused does not stop the rest, is tried again at a growing distance, and told once',
    scene(async (s) => {
      const { settled, world, clock, api, condition } = s;
      const manager = await settled(4, '1', ota);
      const name = world.podOn('n1')?.metadata?.name ?? '';
      const fault = api.fault(
        'patch',
        'pods',
        { kind: 'refuse', code: 'Forbidden', status: 403 },
        { name, times: 1000 },
      );
      world.setImage('v2');
      await clock.advance(20_000);
      assert.deepEqual(said(s), { ...everywhere('True NewRevision v2', 4), n1: 'False UpToDate v1' });
      assert.ok(fault.fired >= 4 && fault.fired <= 6, `${fault.fired} tries in 20 s`);
      assert.equal(manager.reasons().filter((reason) => reason === 'FailedAnnounce').length, 1);
      assert.equal(condition('Reconciling')?.status, 'True', 'there is more to do');
      fault.end();
      await clock.advance(60_000);
      assert.deepEqual(said(s), everywhere('True NewRevision v2', 4));
      assert.equal(condition('Reconciling')?.status, 'False');
    }),
  );

  it(
    'of many pods that are refused does not keep those behind them waiting',
    scene(async (s) => {
      const { settled, world, clock, api } = s;
      await settled(20, '1', ota);
      const names = ['n1', 'n2'].map((node) => world.podOn(node)?.metadata?.name ?? '');
      const refuse = { kind: 'refuse', code: 'Forbidden', status: 403 } as const;
      const faults = names.map((name) => api.fault('patch', 'pods', refuse, { name, times: 1000 }));
      world.setImage('v2');
      await clock.advance(500);
      const told = Object.values(said(s)).filter((text) => text === 'True NewRevision v2');
      assert.equal(told.length, 18);
      for (const fault of faults) fault.end();
    }),
  );

  it(
    'is not written again while the watch is behind',
    scene(async (s) => {
      const { settled, world, clock, api } = s;
      await settled(3, '1', ota);
      api.silence('pods');
      world.setImage('v2');
      await clock.advance(20_000);
      assert.deepEqual(said(s), everywhere('True NewRevision v2'));
      assert.equal(patches(s), 6);
      api.silence('pods', false);
      await clock.advance(20_000);
      assert.equal(patches(s), 6);
    }),
  );

  it(
    'is found to be written when the answer was lost, and written when the request was',
    scene(async (s) => {
      const { settled, world, clock, api } = s;
      await settled(2, '1', ota);
      api.fault('patch', 'pods', { kind: 'lose', happened: true });
      api.fault('patch', 'pods', { kind: 'lose', happened: false });
      world.setImage('v2');
      await clock.advance(10_000);
      assert.deepEqual(said(s), everywhere('True NewRevision v2', 2));
      assert.equal(patches(s), 5, 'one more than two a revision');
    }),
  );

  it(
    'is not written to a pod that is on its way out, nor while the template is not observed',
    scene(async (s) => {
      const { settled, world, clock } = s;
      await settled(2, '1', ota);
      world.setNodeReady('n1', false);
      byOwner(s, 'n1');
      await clock.advance(10);
      const before = patches(s);
      world.native.observes = false;
      world.setImage('v2');
      await clock.advance(5_000);
      assert.equal(patches(s), before);
      world.record();
      world.acknowledge();
      await clock.advance(5_000);
      assert.deepEqual(said(s), { n1: 'False UpToDate v1', n2: 'True NewRevision v2' });
    }),
  );

  it(
    'says Halted once the version fails on as many nodes as the breaker allows, until the user resumes',
    scene(async (s) => {
      const { settled, world, clock, condition, status, deletes } = s;
      const manager = await settled(4, '1', {
        ...ota,
        'edgeset.io/failure-threshold': '2',
        'edgeset.io/progress-deadline-seconds': '30',
      });
      world.setImage('bad2');
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
      assert.deepEqual(said(s), halted);
      assert.deepEqual(status().owners, { asked: 0, nodes: [] });

      await manager.stop();
      s.manage('m2').lead();
      await clock.advance(10_000);
      assert.deepEqual(said(s), halted, 'a successor knows');
      world.annotate({ 'edgeset.io/resume': 'bad2' });
      await clock.advance(5_000);
      assert.deepEqual(said(s), { ...halted, n3: 'True NewRevision bad2', n4: 'True NewRevision bad2' });
      assert.equal(deletes().length, 0);
    }),
  );
});

describe('PodNeedUpgrade of a DaemonSet whose owners decide no more', () => {
  it(
    'goes when the strategy becomes auto, which then rolls out',
    scene(async (s) => {
      const { settled, world, clock, condition } = s;
      await settled(3, '3', ota);
      world.setImage('v2');
      await clock.advance(5_000);
      world.annotate({ [STRATEGY]: 'auto' });
      await clock.advance(20_000);
      assert.deepEqual(said(s), everywhere('nothing'));
      assert.equal(condition('Complete')?.status, 'True');
    }),
  );

  it(
    'stays as it is while the policy is not valid',
    scene(async (s) => {
      const { settled, world, clock } = s;
      await settled(1, '1', ota);
      world.annotate({ [STRATEGY]: 'otta' });
      await clock.advance(5_000);
      world.setImage('v2');
      await clock.advance(5_000);
      assert.deepEqual(said(s), everywhere('False UpToDate v1', 1));
    }),
  );

  it(
    'goes when it opts out, also what was still on its way',
    scene(async (s) => {
      const { settled, world, clock, api, status, requests } = s;
      await settled(3, '1', ota);
      const held = api.fault('patch', 'pods', { kind: 'hold' });
      world.setImage('v2');
      await clock.advance(2_000);
      world.annotate({ [STRATEGY]: null });
      await clock.advance(100);
      // Something else draws attention to it meanwhile.
      api.objects.patch(daemonRollouts, { namespace: NAMESPACE, name: 'app' }, { metadata: { labels: { a: 'b' } } });
      await clock.advance(2_000);
      assert.notEqual(status().summary, 'Not managed');
      held.release();
      await clock.advance(5_000);
      assert.deepEqual(said(s), everywhere('nothing'));
      assert.equal(status().summary, 'Not managed');
      assert.equal(status().owners, undefined);
      const since = clock.now() + 1;
      await clock.advance(60_000);
      assert.deepEqual(requests(since), []);
    }),
  );

  it(
    'goes when it opted out while nobody was running, and one pod that refuses does not keep the others',
    scene(async (s) => {
      const { settled, world, clock, api, status, manage } = s;
      const first = await settled(3, '1', ota);
      world.setImage('v2');
      await clock.advance(5_000);
      await first.stop();
      world.annotate({ [STRATEGY]: null });
      const name = world.podOn('n1')?.metadata?.name ?? '';
      const fault = api.fault(
        'patch',
        'pods',
        { kind: 'refuse', code: 'InternalError', status: 500 },
        { name, times: 3 },
      );
      manage('m2').lead();
      await clock.advance(400);
      assert.deepEqual(said(s), { ...everywhere('nothing'), n1: 'True NewRevision v2' });
      assert.notEqual(status().summary, 'Not managed');
      await clock.advance(30_000);
      assert.equal(fault.fired, 3);
      assert.deepEqual(said(s), everywhere('nothing'));
      assert.equal(status().summary, 'Not managed');
    }),
  );

  it(
    'is never written before the rollout object tells a successor that there is something to take back',
    scene(async (s) => {
      const { world, clock, api, manage } = s;
      world.addNode('n1');
      world.createSet(ota);
      await clock.advance(10_000);
      api.fault('replace', 'daemonrollouts', { kind: 'refuse', code: 'Forbidden', status: 403 }, { times: 5 });
      manage().lead();
      await clock.advance(500);
      assert.equal(patches(s), 0);
      await clock.advance(60_000);
      assert.deepEqual(said(s), everywhere('False UpToDate v1', 1));
    }),
  );

  it(
    'of pods of others is none of our business',
    scene(async (s) => {
      const { settled, world, clock, api } = s;
      await settled(1, '1', ota);
      const conditions = [{ type: 'PodNeedUpgrade', status: 'True' }];
      for (const ownerReferences of [
        undefined,
        [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x', controller: true }],
      ])
        api.objects.create(pods, {
          metadata: {
            namespace: NAMESPACE,
            name: `other-${ownerReferences?.length}`,
            labels: { app: 'app' },
            ownerReferences,
          },
          spec: { nodeName: 'n1', containers: [] },
          status: { conditions },
        } as unknown as Pod);
      world.annotate({ [STRATEGY]: null });
      await clock.advance(5_000);
      const left = (api.objects.all(pods) as Pod[]).filter((pod) => conditionOf(pod)?.status === 'True');
      assert.equal(left.length, 2);
      assert.equal(api.objects.all(daemonRollouts).length, 1);
      assert.ok(api.objects.find(daemonSets, { namespace: NAMESPACE, name: 'app' }));
    }),
  );
});
