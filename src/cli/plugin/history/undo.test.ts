import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { AuditEvent } from '../../../../embedded/index.ts';
import { daemonSets } from '../../../kube/index.ts';
import type { DaemonRolloutHistory } from '../../../words/index.ts';
import { createEmbeddedTestCluster } from '../testing/embedded-cluster.ts';

const MARK = 'edgeset.io/rolled-back-from';
const halted = { halted: { at: '2030-01-01T00:00:00Z', reason: 'Failures' as const, nodes: ['node-1'] } };

describe('undo', () => {
  const world = createEmbeddedTestCluster(Math.random);
  const { create, image } = world;
  /** The output on stdout, and the notes. */
  const done = async (...args: string[]): Promise<[string, string]> => {
    const { code, stdout, stderr } = await world.run('undo', ...args);
    assert.equal(code, 0, stderr);
    world.settle();
    return [stdout, stderr];
  };
  /** The sentence that refuses. */
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await world.run('undo', ...args);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^kubectl edgeset: .*\n$/, 'one sentence');
    return stderr;
  };
  const markOf = async (name: string): Promise<string | undefined> =>
    (await world.get(name)).metadata?.annotations?.[MARK];

  it('restores the whole template of the previous revision, which becomes the newest', async () => {
    await create('web', ['web:1']);
    await world.change('web', { spec: { template: { spec: { hostNetwork: true } } } });
    assert.deepEqual(await done('ds/web'), [
      'daemonset.apps/web rolled back to revision 1 (web:1), which becomes revision 3\n  spec.hostNetwork: true -> (not set)\n',
      '',
    ]);
    const now = await world.get('web');
    assert.equal(now.spec?.template.spec?.hostNetwork, undefined);
    assert.equal(now.metadata?.annotations?.['apps.openyurt.io/update-strategy'], 'auto');
    assert.deepEqual(
      (await world.revisions('web')).map(({ revision }) => revision),
      [2, 3],
    );
    await done('web');
    assert.equal((await world.get('web')).spec?.template.spec?.hostNetwork, true, 'undo of undo, as with kubectl');
  });

  it('reverts an edit that the DaemonSet controller has not observed yet', async () => {
    await create('quick', ['app:1', 'app:2']);
    await world.client.patch(
      daemonSets,
      { namespace: 'default', name: 'quick' },
      { spec: world.withImage('app:3') },
      { type: 'strategic' },
    );
    await done('quick');
    assert.equal(await image('quick'), 'app:2');
  });

  it('recognizes the current revision before the DaemonSet controller has renumbered it', async () => {
    await create('back', ['app:1', 'app:2']);
    await world.client.patch(
      daemonSets,
      { namespace: 'default', name: 'back' },
      { spec: world.withImage('app:1') },
      { type: 'strategic' },
    );
    assert.match(
      await refused('back', '--to-revision', '1'),
      /revision 1 \(app:1\) is already the current one of DaemonSet default\/back: /,
    );
    await done('back');
    assert.equal(await image('back'), 'app:2');
  });

  it('rejects a revision that is not kept or already present, and lists the kept ones', async () => {
    await create('kept', ['app:1', 'app:2']);
    assert.equal(
      await refused('kept', '--to-revision', '7'),
      'kubectl edgeset: there is no revision 7 of DaemonSet default/kept: the kept revisions are 1 (app:1); 2 (app:2), the current one\n',
    );
    assert.match(
      await refused('kept', '--to-revision', '2'),
      /revision 2 \(app:2\) is already the current one of .*: the kept revisions are 1 \(app:1\); 2/,
    );
    await world.status('kept', halted, 2, 1);
    assert.match(
      await refused('kept', '--to-revision', '2'),
      /is already the current one of .*; its rollout is halted: "kubectl edgeset resume ds\/kept -n default" continues it: /,
    );
    await create('first', ['app:1']);
    assert.match(await refused('first'), /has no earlier revision to roll back to: set the template that you want/);
    assert.match(await refused('nobody'), /there is no DaemonSet default\/nobody/);
    const { code, stderr } = await world.run('undo', 'kept', '--to-revision', '0');
    assert.equal(code, 2);
    assert.match(stderr, /give the number of a revision, as listed by "history"/);
  });

  it('goes back to the last complete revision, however many came after it', async () => {
    await create('hurry', ['app:1', 'app:2', 'app:3']);
    await world.status('hurry', { plan: 'rings', stages: [] }, 3, 1);
    const [output, notes] = await done('hurry', '--dry-run');
    assert.match(output, /rolled back to revision 1 \(app:1\), which becomes revision 4 \(dry run\)\n/);
    assert.match(
      notes,
      /^Note: Revision 1 was last complete: the stages of plan rings don't hold it back, and neither do its windows and freezes unless it sets windowsOnRollback\.$/m,
    );
    assert.match(
      (await done('hurry', '--to-revision', '2'))[1],
      /Note: The last complete revision is 1 \(app:1\): "kubectl edgeset undo ds\/hurry --to-revision 1 -n default"\.\n/,
    );
    assert.equal(await image('hurry'), 'app:2');
    await create('late', ['app:1', 'app:2']);
    await world.status('late', { plan: 'rings', stages: [] }, 2, 2);
    assert.match(
      (await done('late', '--dry-run'))[1],
      /^Note: Revision 1 was not last complete: the stages, windows and freezes of plan rings hold for it as for any other revision\.$/m,
    );
  });

  it('asks for a choice if the last complete revision is no longer kept', async () => {
    await create('lost', ['app:1', 'app:2']);
    await world.status('lost', { lastComplete: { revision: 'lost-gone', hash: 'gone' } }, 2);
    assert.match(
      await refused('lost'),
      /the last complete revision of DaemonSet default\/lost, lost-gone, is no longer kept: choose a revision with --to-revision; the kept/,
    );
    await create('forgotten', ['app:1', 'app:2']);
    const entryOf = (number: number): Pick<DaemonRolloutHistory, 'rollout' | 'to' | 'nodes' | 'failures'> => ({
      rollout: number,
      to: { revision: `forgotten-${number}x`, hash: `${number}x`, number, images: [] },
      nodes: 1,
      failures: 0,
    });
    const history: DaemonRolloutHistory[] = [
      { ...entryOf(2), result: 'Halted' },
      { ...entryOf(1), result: 'Complete', finishedAt: '2030-01-01T00:00:00Z' },
    ];
    await world.status('forgotten', { history }, 2);
    assert.match(await refused('forgotten'), /the last complete revision of .*, forgotten-1x, is no longer kept: /);
  });

  it('keeps the mark of another revision', async () => {
    await create('other', ['app:1', 'app:2', 'app:3'], { annotations: { [MARK]: 'abc' } });
    await done('other');
    assert.equal(await markOf('other'), 'abc');
  });

  it('notes what the nodes wait for, and which tool will restore the template', async () => {
    await create('held', ['app:1', 'app:2'], {
      annotations: {
        'edgeset.io/paused': 'true',
        'apps.openyurt.io/max-unavailable': '0',
        'argocd.argoproj.io/tracking-id': 'shop:apps/DaemonSet:default/held',
      },
    });
    const [, notes] = await done('held');
    assert.deepEqual(notes.trimEnd().split('\n'), [
      'Note: The rollout stays paused: run "kubectl edgeset resume ds/held -n default" to roll the nodes back.',
      'Note: The budget is zero, so no node is updated. Run "kubectl edgeset set ds/held --max-unavailable VALUE -n default".',
      'Note: Argo CD (application shop) restores the template from its repository at its next sync: revert it there too, or stop automated sync.',
    ]);
    await create('ota', ['app:1', 'app:2'], { annotations: { 'apps.openyurt.io/update-strategy': 'ota' } });
    assert.match((await done('ota'))[1], /The owner of each device decides when it is rolled back/);
    await create('wrong', ['app:1', 'app:2'], { annotations: { 'apps.openyurt.io/max-unavailable': 'x' } });
    assert.match((await done('wrong'))[1], /not valid, so no node is updated\. .*max-unavailable/);
  });

  it('works without opt-in, and notes who replaces the pods', async () => {
    const out = { 'apps.openyurt.io/update-strategy': null };
    await create('plain', ['app:1', 'app:2'], {}, 'RollingUpdate');
    await world.change('plain', { metadata: { annotations: out } }, 'merge');
    assert.match(
      (await done('plain'))[1],
      /edgeset does not manage the DaemonSet: Kubernetes replaces its pods with a RollingUpdate\./,
    );
    assert.equal(await image('plain'), 'app:1');
    await create('byhand', ['app:1', 'app:2']);
    await world.change('byhand', { metadata: { annotations: out } }, 'merge');
    assert.match((await done('byhand'))[1], /a node is rolled back when you delete its pod/);
  });

  for (const [flag, words] of [
    ['--dry-run', '(dry run)'],
    ['--dry-run=client', '(dry run)'],
    ['--dry-run=server', '(server dry run)'],
  ] as const)
    it(`changes nothing with ${flag}`, async () => {
      const name = `dry-${flag.replace(/\W+/g, '')}`;
      await create(name, ['app:1', 'app:2']);
      const before = await world.get(name);
      assert.equal(
        (await done(name, flag))[0],
        `daemonset.apps/${name} rolled back to revision 1 (app:1), which becomes revision 3 ${words}\n  spec.containers[app].image: app:2 -> app:1\n`,
      );
      const [json] = await done(name, flag, '-o', 'json');
      const changed = JSON.parse(json) as DaemonSet;
      assert.equal(changed.spec?.template.spec?.containers[0]?.image, 'app:1');
      assert.equal(changed.metadata?.managedFields, undefined);
      assert.equal((await done(name, flag, '-o', 'name'))[0], `daemonset.apps/${name}\n`);
      assert.deepEqual(await world.get(name), before);
    });

  /** Undoes, while something happens to the DaemonSet between what undo reads and what it writes. */
  const duringUndo = async (name: string, happens: () => void) => {
    const patches: AuditEvent[] = [];
    let happened = false;
    world.onRequest = (call) => {
      if (call.method === 'PATCH') patches.push(call);
      if (call.plural !== 'controllerrevisions' || happened) return;
      happened = true;
      happens();
    };
    const ran = await world.run('undo', name);
    world.onRequest = () => {};
    assert.ok(happened);
    return { ...ran, patches };
  };
  const { apiServer } = world.cluster;
  const where = (name: string) => ({ namespace: 'default', name });

  it('writes once, unless the DaemonSet has changed since it was read', async () => {
    await create('once', ['app:1', 'app:2']);
    const { uid, resourceVersion } = (await world.get('once')).metadata ?? {};
    const { code, patches } = await duringUndo('once', () => {});
    assert.equal(code, 0);
    const [{ request } = { request: undefined }] = patches;
    assert.equal(patches.length, 1);
    assert.deepEqual((request as DaemonSet).metadata, { uid, resourceVersion, annotations: {} });
  });

  it('tolerates a status change', async () => {
    await create('busy', ['app:1', 'app:2']);
    const { code, stderr, patches } = await duringUndo('busy', () => {
      const busy = apiServer.get<Required<DaemonSet>>(daemonSets, where('busy'));
      const status = { ...busy.status, numberReady: 0 };
      apiServer.update<object>(daemonSets, { ...busy, status }, { subresource: 'status' });
    });
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(
      patches.map(({ status }) => status),
      [409, 200],
    );
    assert.equal(await image('busy'), 'app:1');
  });

  it('writes nothing if the DaemonSet is changed at the same time', async () => {
    await create('raced', ['app:1', 'app:2']);
    const { code, stderr } = await duringUndo('raced', () => {
      apiServer.patch(daemonSets, where('raced'), { spec: world.withImage('app:3') }, { type: 'strategic' });
    });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /DaemonSet default\/raced was changed at the same time, so nothing was rolled back: check "kubectl edgeset history ds\/raced -n default"/,
    );
    assert.equal(await image('raced'), 'app:3');
  });

  it('writes nothing if the DaemonSet is recreated at the same time', async () => {
    await create('recreated', ['app:1', 'app:2']);
    const { code, stderr } = await duringUndo('recreated', () => {
      const { apiVersion, kind, metadata, spec } = apiServer.get<Required<DaemonSet>>(daemonSets, where('recreated'));
      apiServer.delete(daemonSets, where('recreated'), { propagationPolicy: 'Orphan' });
      world.settle();
      const { name, namespace, annotations } = metadata;
      apiServer.create<object>(daemonSets, { apiVersion, kind, metadata: { name, namespace, annotations }, spec });
    });
    assert.equal(code, 1);
    assert.match(stderr, /was changed at the same time/);
    assert.equal(await image('recreated'), 'app:2');
  });
});
