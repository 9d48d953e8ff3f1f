import assert from 'node:assert/strict';
import { type Case, section } from '../kit/index.ts';
import { edgeset, history, refuses, succeeds, untilSaid } from './run.ts';

const imageOf = async (c: Case): Promise<string | undefined> =>
  (await c.daemonSet()).spec?.template.spec?.containers[0]?.image;

const markOf = async (c: Case): Promise<string | undefined> =>
  (await c.daemonSet()).metadata?.annotations?.['edgeset.io/rolled-back-from'];

/** Until the DaemonSet controller has given the current template its number. */
const untilPresent = (c: Case, number: number): Promise<unknown> =>
  c.until(`revision ${number} is the current one`, async () =>
    (await history(c)).some((revision) => revision.present && revision.number === number),
  );

export const undoing = section('history and undo', (rule) => {
  rule('undo of a halted version repairs the broken nodes, and setting that version again is noticed', async (c) => {
    await c.startRollout('app:v2--crash-loop');
    await c.untilCondition('Halted');
    const seen = await history(c);
    assert.deepEqual(
      seen.map(({ number, images, present, lastComplete }) => [number, images[0], present, lastComplete]),
      [
        [1, 'app:v1', false, true],
        [2, 'app:v2--crash-loop', true, false],
      ],
    );
    assert.deepEqual(
      seen.map(({ pods }) => pods),
      [2, 1],
    );
    const [said, notes] = succeeds(await edgeset(c, 'undo', 'ds/app'));
    assert.equal(
      said,
      'daemonset.apps/app rolled back to revision 1 (app:v1), which becomes revision 3\n  spec.containers[app].image: app:v2--crash-loop -> app:v1\n',
    );
    assert.match(notes, /The halt of revision 2 ends; nodes that it broke are repaired first\./);
    assert.equal((await edgeset(c, 'wait', 'app', '--timeout', '60s')).code, 0);
    assert.deepEqual(await c.running('app:v1'), c.nodes);
    assert.equal(new Set(await c.updatedNodes()).size, 1, 'only the broken node was touched');
    const rollouts = await untilSaid(c, /^3 +\S+ +2 +3 +Complete .* edgeset-cli /m, 'history', 'app');
    assert.match(
      rollouts,
      /\n\nROLLOUT .*\n1 .* Complete .*\n2 +\S+ +1 +2 +Undone +1 +1 .* app:v1 -> app:v2--crash-loop\n3 /,
    );

    // A second one, in a hurry, does not bring the bad version back; nor does a tool that sets it.
    refuses(await edgeset(c, 'undo', 'app'), /to which undo would return, failed: choose a revision/);
    const before = (await c.updates()).length;
    await c.setImage('app:v2--crash-loop');
    assert.equal((await c.untilCondition('Halted')).reason, 'RolledBack');
    await c.expectNoUpdatesFor(2);
    assert.equal((await c.updates()).length, before);
  });

  rule('a second undo does not bring back a version that failed and was resumed', async (c) => {
    await c.startRollout('app:v2--crash-loop');
    await c.untilCondition('Halted');
    succeeds(await edgeset(c, 'resume', 'app'));
    await c.until('it runs on', async () => !(await c.rollout())?.status?.halted);
    succeeds(await edgeset(c, 'undo', 'app'));
    await untilPresent(c, 3);
    refuses(await edgeset(c, 'undo', 'app'), /to which undo would return, failed: choose a revision/);
    assert.equal((await edgeset(c, 'wait', 'app', '--timeout', '60s')).code, 0);
    refuses(await edgeset(c, 'undo', 'app'), /to which undo would return, failed: choose a revision/);
    assert.equal(await imageOf(c), 'app:v1');
  });

  rule('undo to a version that was rolled back before rolls it out', async (c) => {
    await c.startRollout('app:v2--crash-loop', { annotations: { 'edgeset.io/on-failure': 'rollback' } });
    await c.until('it is rolled back', () => markOf(c));
    assert.equal((await edgeset(c, 'wait', 'app', '--timeout', '60s')).code, 0);
    await untilPresent(c, 3);
    refuses(await edgeset(c, 'undo', 'app'), /to which undo would return, failed: choose/);
    // The cause of the failure is fixed.
    await c.cluster.behave(c.nodes, { behaviour: 'ready' });
    const [, notes] = succeeds(await edgeset(c, 'undo', 'app', '--to-revision', '2'));
    assert.match(notes, /failed and was rolled back before; it is rolled out again/);
    assert.equal(await markOf(c), undefined);
    assert.equal((await edgeset(c, 'wait', 'app', '--timeout', '60s')).code, 0);
    assert.deepEqual(await c.running('app:v2--crash-loop'), c.nodes);
  });

  rule('undo restores the whole template, and its revision becomes the newest', async (c) => {
    await c.rolledOut();
    const { spec } = await c.daemonSet();
    await c.change({ spec: { template: { metadata: { annotations: { more: 'x' } }, spec: { hostNetwork: true } } } });
    await untilPresent(c, 2);
    await c.untilCondition('Complete');
    const old = (await history(c))[0]?.hash;
    succeeds(await edgeset(c, 'undo', 'app'));
    assert.deepEqual((await c.daemonSet()).spec, spec);
    await untilPresent(c, 3);
    assert.equal((await history(c)).find(({ present }) => present)?.hash, old, 'and no new one is made');
    assert.equal((await edgeset(c, 'wait', 'app', '--timeout', '60s')).code, 0);
    const shown = succeeds(await edgeset(c, 'history', 'app', '--revision', '2'))[0];
    assert.match(shown, /spec\.hostNetwork: \(not set\) -> true\n/);
    assert.match(shown, /metadata\.annotations: \(not set\) -> \{"more":"x"\}\n/);
  });

  rule('undo goes to the named revision, or past all that failed to the last complete one', async (c) => {
    await c.rolledOut({ annotations: { 'edgeset.io/failure-threshold': '1' } });
    for (const [number, image] of [
      [2, 'app:v2--never-ready'],
      [3, 'app:v3--never-ready'],
    ] as const) {
      await c.setImage(image);
      await untilPresent(c, number);
    }
    await c.until('the manager knows the last complete one', async () =>
      (await history(c)).some(({ lastComplete }) => lastComplete),
    );
    refuses(await edgeset(c, 'undo', 'app', '--to-revision', '3'), /is already the current one of DaemonSet .*\/app/);
    refuses(
      await edgeset(c, 'undo', 'app', '--to-revision', '9'),
      /there is no revision 9 .*: the kept revisions are 1 \(app:v1\); 2 /,
    );
    assert.equal(await imageOf(c), 'app:v3--never-ready');
    for (const form of ['client', 'server'] as const) {
      const [said] = succeeds(await edgeset(c, 'undo', 'app', `--dry-run=${form}`, '-o', 'yaml'));
      assert.match(said, /image: app:v1\n/);
    }
    assert.equal(await imageOf(c), 'app:v3--never-ready');
    succeeds(await edgeset(c, 'undo', 'app'));
    assert.equal((await edgeset(c, 'wait', 'app', '--timeout', '60s')).code, 0);
    assert.deepEqual(await c.running('app:v1'), c.nodes);
  });

  rule(
    'undo while paused changes the template, updates no pod, and says how to continue',
    async (c) => {
      await c.rolledOut();
      await c.bringTo('app:v2');
      await c.annotate({ 'edgeset.io/paused': 'true' });
      const before = (await c.updates()).length;
      const [, notes] = succeeds(await edgeset(c, 'undo', 'app'));
      assert.match(notes, /The rollout stays paused: run "kubectl edgeset resume ds\/app -n .*"/);
      assert.equal(await imageOf(c), 'app:v1');
      await c.expectNoUpdatesFor(2);
      assert.equal((await c.updates()).length, before);
      assert.equal((await edgeset(c, 'resume', 'app')).code, 0);
      assert.equal((await edgeset(c, 'wait', 'app', '--timeout', '60s')).code, 0);
      assert.deepEqual(await c.running('app:v1'), c.nodes);
    },
    { nodes: 2 },
  );

  rule(
    'undo says that the last complete revision is no longer kept, after a rollback to it was impossible',
    async (c) => {
      await c.rolledOut({ annotations: { 'edgeset.io/on-failure': 'rollback' } });
      await c.change({ spec: { revisionHistoryLimit: 0 } });
      await c.setImage('app:v2--crash-loop');
      const { note } = await c.untilEvent('RollbackFailed');
      const [, lost = ''] = /^The template of (\S+) is no longer kept/.exec(note ?? '') ?? [];
      assert.ok(lost !== '', note ?? '');
      refuses(
        await edgeset(c, 'undo', 'app'),
        new RegExp(`the last complete revision of .*, ${lost}, is no longer kept`),
      );
    },
    // The controller keeps the revisions of pods.
    { nodes: 1 },
  );

  rule(
    'undo also works for a DaemonSet that is not opted in, and Kubernetes replaces its pods',
    async (c) => {
      await c.create({ updateStrategy: 'RollingUpdate', annotations: { 'apps.openyurt.io/update-strategy': null } });
      await c.untilRunning('app:v1');
      await c.setImage('app:v2');
      await c.untilRunning('app:v2');
      const [, notes] = succeeds(await edgeset(c, 'undo', 'app'));
      assert.equal(
        notes,
        'Note: edgeset does not manage the DaemonSet: Kubernetes replaces its pods with a RollingUpdate.\n',
      );
      await c.untilRunning('app:v1');
      assert.deepEqual(await c.updates(), []);
    },
    { nodes: 1, manager: 'none' },
  );
});
