import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WrittenStatus } from '../../rollout/index.ts';
import type { DaemonRolloutStage, DaemonRolloutStatus } from '../../words/index.ts';
import { type Scenario, scenario } from '../testing/scenario.ts';
import { rolloutStory } from './rollout-story.ts';

const untilComplete = async ({ clock, condition, status }: Scenario, tag: string): Promise<void> => {
  for (let second = 0; second < 300; second += 1) {
    await clock.advance(1_000);
    if (status().target?.hash === tag && condition('Complete')?.status === 'True') return;
  }
  assert.fail(`${tag} does not complete`);
};

const message = (line: string): string => line.replace(/ version=.*/, '');

describe('the log of a manager', () => {
  it(
    'tells a rollout from its start to the last node that was offline',
    scenario(async (scene) => {
      const { settled, cluster, clock } = scene;
      const manager = await settled(12, '50%');
      assert.deepEqual(manager.story, [], 'nothing of the first target that is found');
      cluster.setNodeReady('n12', false);
      await clock.advance(60_000);
      cluster.setImage('v2');
      await untilComplete(scene, 'v2');
      cluster.setNodeReady('n12', true);
      await clock.advance(60_000);
      assert.deepEqual(manager.story, [
        'rollout started version=app:v2 from=app:v1 revision=app-v2 rollout=2 strategy=auto online=11 offline=1 budget=6',
        'the first wave is updated version=app:v2 updated=3 online=11 offline=1 failed=0 after=3 s',
        'half of the nodes are updated version=app:v2 updated=9 online=11 offline=1 failed=0 after=6 s',
        'rollout completed version=app:v2 updated=11 online=11 offline=1 failed=0 took=9 s',
        'every node is updated version=app:v2 nodes=12 took=23 s',
      ]);
      const { length } = manager.story;
      cluster.setImage('v3');
      await untilComplete(scene, 'v3');
      assert.deepEqual(manager.story.slice(length).map(message), [
        'rollout started',
        'the first wave is updated',
        'half of the nodes are updated',
        'rollout completed',
      ]);
    }),
  );

  it(
    'says why a version is halted, and what follows',
    scenario(async (scene) => {
      const { settled, cluster, clock, condition } = scene;
      const manager = await settled(12, '50%', { 'edgeset.io/progress-deadline-seconds': '30' });
      cluster.setImage('bad');
      await clock.advance(60_000);
      assert.equal(condition('Halted')?.status, 'True');
      cluster.annotate({ 'edgeset.io/resume': 'bad/1' });
      await clock.advance(90_000);
      cluster.setImage('v1');
      await untilComplete(scene, 'v1');
      assert.deepEqual(manager.story, [
        'rollout started version=app:bad from=app:v1 revision=app-bad rollout=2 strategy=auto online=12 offline=0 budget=6',
        'rollout halted version=app:bad reason=Failures nodes=n1,n4,n10 updated=0 online=12 offline=0 failed=3 after=31 s',
        'rollout resumed version=app:bad resume=bad/1 updated=0 online=12 offline=0 failed=3',
        'rollout halted version=app:bad reason=Failures nodes=n2,n5,n7 updated=0 online=12 offline=0 failed=6 after=91 s',
        'rollout started version=app:v1 from=app:bad revision=app-v1 rollout=3 strategy=auto online=12 offline=0 budget=6',
        'rollout completed version=app:v1 updated=12 online=12 offline=0 failed=0 took=3 s',
      ]);
    }),
  );

  it(
    'is the same when another manager leads, and is not told twice',
    scenario(async (scene) => {
      const { settled, cluster, clock, manage } = scene;
      const first = await settled(12, '50%');
      cluster.setImage('v2');
      await clock.advance(8_000);
      const resigned = first.resign();
      await clock.advance(1_000);
      await resigned;
      const second = manage('m2');
      second.lead();
      await untilComplete(scene, 'v2');
      assert.deepEqual(
        [first.story.map(message), second.story.map(message)],
        [['rollout started', 'the first wave is updated', 'half of the nodes are updated'], ['rollout completed']],
      );
    }),
  );

  it(
    'has no line for a node, however often it fails, goes and comes back',
    scenario(async (scene) => {
      const { settled, cluster, clock } = scene;
      const manager = await settled(6, '50%');
      cluster.setImage('v2');
      await untilComplete(scene, 'v2');
      const { length } = manager.story;
      let reconciles = 0;
      manager.onReconcile(() => void (reconciles += 1));
      for (let round = 0; reconciles < 1_000; round += 1) {
        const node = `n${1 + (round % 6)}`;
        cluster.setPodReady(cluster.podOn(node)?.metadata?.name ?? '', round % 12 >= 6);
        cluster.setNodeReady(node, round % 24 < 12);
        await clock.advance(2_000);
      }
      assert.deepEqual(manager.story.slice(length), []);
    }),
  );
});

const at = '2030-01-01T00:00:00.000Z';
const status = (change: Partial<DaemonRolloutStatus>): WrittenStatus =>
  ({
    rollout: 2,
    startedAt: at,
    target: { revision: 'app-2', hash: 'h2', number: 2 },
    nodes: { updated: 4, online: 9, offline: 1, failed: 0, eligible: 10 },
    budget: { nodes: 3 },
    ...change,
  }) as DaemonRolloutStatus as WrittenStatus;
const told = (before: DaemonRolloutStatus, after: WrittenStatus): string[] =>
  rolloutStory(before, after).map(({ msg }) => msg);

describe('the story of two statuses', () => {
  it('has the stages as they are opened and passed', () => {
    const stage: DaemonRolloutStage = { name: 'lab', state: 'Open', nodes: { total: 3, online: 2, updated: 2 } };
    const opened = status({ stages: [{ ...stage, openedAt: at }] });
    const passed = status({ stages: [{ ...stage, openedAt: at, promotedAt: at, promotion: 'Gates' }] });
    assert.deepEqual(rolloutStory(status({}), opened), [
      {
        msg: 'stage opened',
        fields: { version: 'app-2', stage: 'lab', what: 'Opened stage lab: 2 of its 3 nodes are online.' },
      },
    ]);
    assert.deepEqual(told(opened, passed), ['stage passed']);
    assert.deepEqual(told(passed, passed), []);
  });

  it('names a check that failed', () => {
    const halted = status({ halted: { at, reason: 'CheckFailed', nodes: [], check: 'lab/errors' } });
    const [line] = rolloutStory(status({}), halted);
    assert.equal(line?.msg, 'rollout halted');
    assert.deepEqual([line?.fields['reason'], line?.fields['check']], ['CheckFailed', 'lab/errors']);
  });

  it('says one thing of what comes about at once: the last', () => {
    const half = { firstWaveUpdatedAt: at, halfUpdatedAt: at };
    assert.deepEqual(told(status({}), status(half)), ['half of the nodes are updated']);
    assert.deepEqual(told(status({}), status({ ...half, finishedAt: at, allNodesUpdatedAt: at })), [
      'rollout completed',
    ]);
    assert.deepEqual(told(status({ halfUpdatedAt: at }), status(half)), [], 'a first wave after half is no news');
  });

  it('begins without what holds already, as after an undo', () => {
    assert.deepEqual(told(status({ rollout: 1 }), status({ halfUpdatedAt: at })), ['rollout started']);
  });

  it('names three images, and the revision where there are none', () => {
    const history = (images: string[]) => [
      {
        rollout: 2,
        result: 'InProgress' as const,
        to: { revision: 'app-2', hash: 'h2', number: 2, images },
        nodes: 0,
        failures: 0,
      },
    ];
    const version = (images: string[]) =>
      rolloutStory(status({ rollout: 1 }), status({ history: history(images) }))[0]?.fields['version'];
    assert.equal(version(['a:2', 'b:2', 'c:2', 'd:2', 'e:2']), 'a:2, b:2, c:2 and 2 more');
    assert.equal(version([]), 'app-2');
  });
});
