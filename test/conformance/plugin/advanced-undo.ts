import assert from 'node:assert/strict';
import { type Case, section } from '../kit/index.ts';
import { edgeset, history, refuses, succeeds } from './run.ts';

const imageOf = async (c: Case): Promise<string | undefined> =>
  (await c.advanced()).spec.template.spec?.containers[0]?.image;

/** Until the manager has given the current template its number. */
const untilPresent = (c: Case, number: number): Promise<unknown> =>
  c.until(`revision ${number} is the current one`, async () =>
    (await history(c)).some((revision) => revision.present && revision.number === number),
  );

export const advancedUndoing = section(
  'History and undo of Advanced DaemonSets',
  (rule) => {
    rule('history lists images and change causes, and undo goes to any kept revision', async (c) => {
      await c.rolledOut({
        annotations: { 'kubernetes.io/change-cause': 'first' },
        rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible' },
      });
      const before = (await c.pods()).map(({ uid }) => uid).toSorted();
      for (const [number, image] of [
        [2, 'app:v2'],
        [3, 'app:v3'],
      ] as const) {
        await c.annotate({ 'kubernetes.io/change-cause': `to ${image}` });
        await c.setImage(image);
        await untilPresent(c, number);
        succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
      }
      assert.deepEqual(
        (await history(c)).map(({ number, images, changeCause, present, lastComplete, pods }) => [
          number,
          images[0],
          changeCause,
          present,
          lastComplete,
          pods,
        ]),
        [
          [1, 'app:v1', 'first', false, false, 0],
          [2, 'app:v2', 'to app:v2', false, false, 0],
          [3, 'app:v3', 'to app:v3', true, true, 3],
        ],
      );
      const shown = succeeds(await edgeset(c, 'history', 'app', '--revision', '1'))[0];
      assert.match(
        shown,
        /would change, compared with revision 3:\n {2}spec\.containers\[app\]\.image: app:v3 -> app:v1\n\n/,
      );
      const said = 'rolled back to revision 1 (app:v1), which becomes revision 4';
      const changed = '  spec.containers[app].image: app:v3 -> app:v1\n';
      for (const form of ['client', 'server']) {
        const [dry] = succeeds(await edgeset(c, 'undo', 'app', '--to-revision', '1', `--dry-run=${form}`));
        const how = form === 'client' ? 'dry run' : 'server dry run';
        assert.equal(dry, `daemonset.apps.kruise.io/app ${said} (${how})\n${changed}`);
      }
      assert.equal(await imageOf(c), 'app:v3');
      const [done, notes] = succeeds(await edgeset(c, 'undo', 'ads/app', '--to-revision', '1'));
      assert.deepEqual([done, notes], [`daemonset.apps.kruise.io/app ${said}\n${changed}`, '']);
      await untilPresent(c, 4);
      succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
      assert.deepEqual(await c.running('app:v1'), c.nodes);
      assert.deepEqual((await c.pods()).map(({ uid }) => uid).toSorted(), before, 'in place, as the strategy asks');
      assert.equal((await history(c)).length, 3, 'and no new revision is made');
    });

    rule('undo of a halted version repairs the broken nodes, and setting that version again is noticed', async (c) => {
      await c.startRollout('app:v2--crash-loop');
      await c.untilCondition('Halted');
      // The manager writes the status of the DaemonSet a moment after that of the DaemonRollout.
      await untilPresent(c, 2);
      const [, notes] = succeeds(await edgeset(c, 'undo', 'app'));
      assert.match(notes, /The halt of revision 2 ends; .*"kubectl edgeset resume ads\/app -n .*"/);
      succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
      assert.deepEqual(await c.running('app:v1'), c.nodes);
      refuses(await edgeset(c, 'undo', 'app'), /to which undo would return, failed: choose a revision/);
      await c.setImage('app:v2--crash-loop');
      assert.equal((await c.untilCondition('Halted')).reason, 'RolledBack');
      const [, again] = succeeds(await edgeset(c, 'undo', 'app', '--to-revision', '3'));
      assert.match(again, /The halt of revision \d+ ends/);
      succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
    });

    rule(
      'undo while paused or under a partition changes only the template, and says what the nodes wait for',
      async (c) => {
        await c.startRollout('app:v2', { rollingUpdate: { partition: 1 } });
        await c.untilRunning('app:v2', c.nodes.slice(1));
        succeeds(await edgeset(c, 'pause', 'app'));
        await untilPresent(c, 2);
        const [, notes] = succeeds(await edgeset(c, 'undo', 'app'));
        assert.match(notes, /The rollout stays paused: run "kubectl edgeset resume ads\/app -n .*"/);
        assert.match(notes, /rollingUpdate\.partition is 1: .* Set it to 0 to roll back all nodes/);
        assert.equal(await imageOf(c), 'app:v1');
        succeeds(await edgeset(c, 'resume', 'app'));
        await c.change({ spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
        succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
        assert.deepEqual(await c.running('app:v1'), c.nodes);
      },
      { nodes: 2 },
    );

    rule(
      'undo chooses nothing while the current template is not certain',
      async (c) => {
        await c.startRollout('app:v2');
        await untilPresent(c, 2);
        succeeds(await edgeset(c, 'wait', 'app', '--timeout', '60s'));
        await c.manager.stop();
        // Another generation of the same template, which nobody has looked at.
        succeeds(await edgeset(c, 'pause', 'app'));
        refuses(
          await edgeset(c, 'undo', 'app'),
          /the manager has not recorded the current template of Advanced DaemonSet .*--to-revision; the kept revisions are 1 \(app:v1\); 2 \(app:v2\)/,
        );
        const [said] = succeeds(await edgeset(c, 'undo', 'app', '--to-revision', '1'));
        assert.match(said, /rolled back to revision 1 \(app:v1\)/);
        // What is put back has all defaults, as it is recorded: that is certain without anybody.
        refuses(
          await edgeset(c, 'undo', 'app', '--to-revision', '1'),
          /is already the current one of Advanced DaemonSet /,
        );
      },
      { nodes: 1 },
    );
  },
  { kind: 'advanced' },
);
