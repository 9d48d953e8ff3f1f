import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { controllerRevisions } from '../../../kube/index.ts';
import { toTimestamp } from '../../../rollout/index.ts';
import { systemClock } from '../../../runtime/index.ts';
import type { DaemonRolloutHistory } from '../../../words/index.ts';
import { createEmbeddedTestCluster } from '../testing/embedded-cluster.ts';

describe('history', () => {
  const world = createEmbeddedTestCluster(Math.random);
  const { create } = world;
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await world.run('history', ...args);
    assert.deepEqual([code, stderr], [0, '']);
    return stdout;
  };
  /** Rows of cells, without hashes, which are no news. */
  const table = async (...args: string[]): Promise<string[][]> =>
    (await run(...args))
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {3,}/))
      .map(([number = '', , ...cells]) => [number, ...cells]);

  it('lists revisions with their pods and state', async () => {
    await create('web', ['web:1'], { annotations: { 'kubernetes.io/change-cause': 'first try' } });
    await world.change('web', {
      metadata: { annotations: { 'kubernetes.io/change-cause': null } },
      spec: { template: { spec: { initContainers: [{ name: 'init', image: 'init:1' }] } } },
    });
    await world.status('web', {}, 2, 1);
    assert.deepEqual(await table('ds/web'), [
      ['REVISION', 'AGE', 'PODS', 'STATE', 'IMAGES', 'CHANGE-CAUSE'],
      ['1', '3h', '2', 'last complete', 'web:1', 'first try'],
      ['2', '3h', '0', 'present', 'init:1,web:1'],
    ]);
    const [header, , second] = await table('web', '-o', 'wide');
    assert.deepEqual(header?.slice(1, 4), ['NAME', 'AGE', 'CREATED']);
    assert.match(second?.[3] ?? '', /^\d{4}-\d\d-\d\dT/);
    const [one, two] = await world.revisions('web');
    assert.equal(
      await run('web', '-o', 'name'),
      `controllerrevision.apps/${one?.metadata?.name}\ncontrollerrevision.apps/${two?.metadata?.name}\n`,
    );
  });

  it('marks the revision that failed and was rolled back', async () => {
    await create('rolled', ['app:1', 'app:2']);
    const hash = (await world.revisions('rolled'))[1]?.metadata?.labels?.['controller-revision-hash'];
    await world.change('rolled', {
      metadata: { annotations: { 'edgeset.io/rolled-back-from': hash } },
      spec: world.withImage('app:1'),
    });
    assert.deepEqual(
      (await table('rolled')).map(([number, , , state]) => [number, state]),
      [
        ['REVISION', 'STATE'],
        ['2', 'rolled back'],
        ['3', 'present'],
      ],
    );
  });

  it('shows one revision with its template and what a rollback would change', async () => {
    await create('one', ['app:1', 'app:2']);
    const name = (await world.revisions('one'))[0]?.metadata?.name;
    const text = await run('one', '--revision', '1');
    assert.ok(text.startsWith(`revision 1 (${name})\ncreated `));
    assert.match(
      text,
      /, used by 2 pods\n\nRolling back to it would change, compared with revision 2:\n {2}spec\.containers\[app\]\.image: app:2 -> app:1\n\ntemplate:\n/,
    );
    assert.match(text, /\n +image: app:1\n/);
    assert.doesNotMatch(text, /\$patch/);
    assert.match(
      await run('one', '--revision=2'),
      /^revision 2 .*: present\n[^]*It is the same as the current template\./,
    );
  });

  it('prints data for scripts', async () => {
    await create('data', ['app:1', 'app:2']);
    await world.status('data', {}, 2, 1);
    const all = JSON.parse(await run('data', '-o', 'json')) as { revisions: Record<string, unknown>[] };
    assert.deepEqual(
      all.revisions.map(({ number, images, pods, present, lastComplete, rolledBack }) => [
        number,
        images,
        pods,
        present,
        lastComplete,
        rolledBack,
      ]),
      [
        [1, ['app:1'], 2, false, true, false],
        [2, ['app:2'], 0, true, false, false],
      ],
    );
    const one = parse(await run('data', '-o', 'yaml', '--revision', '1')) as {
      changes: unknown;
      template: { spec: object };
    };
    assert.deepEqual(one.changes, [{ path: 'spec.containers[app].image', from: 'app:2', to: 'app:1' }]);
    assert.ok('containers' in one.template.spec);
  });

  it('lists the last rollouts below the revisions, oldest first', async () => {
    await create('past', ['web:1', 'web:2', 'web:2']);
    const start = systemClock.now();
    const minutesAgo = (minutes: number): string => toTimestamp(start - minutes * 60_000);
    const [one, two] = [1, 2].map((number) => ({
      revision: `past-${number}`,
      hash: String(number),
      number,
      images: ['side:1', `web:${number}`],
    }));
    assert.ok(one && two);
    const history: DaemonRolloutHistory[] = [
      {
        rollout: 4,
        result: 'InProgress',
        from: one,
        to: { ...one, number: 4 },
        startedAt: minutesAgo(10),
        nodes: 1,
        failures: 0,
      },
      {
        rollout: 3,
        result: 'RolledBack',
        from: two,
        to: one,
        changedBy: { manager: 'edgeset-manager', operation: 'Update', time: minutesAgo(30) },
        startedAt: minutesAgo(30),
        haltedAt: minutesAgo(28),
        endedAt: minutesAgo(20),
        nodes: 2,
        failures: 1,
        stages: [
          {
            name: 'lab',
            openedAt: minutesAgo(30),
            promotedAt: minutesAgo(29),
            promotion: 'ByHand',
            decisions: [
              { decision: 'Promote', by: 'bob', at: minutesAgo(29), comment: 'hotfix' },
              { decision: 'Approve', by: 'ann\u001b[2J' },
            ],
          },
          { name: 'canary', openedAt: minutesAgo(29) },
        ],
      },
      {
        rollout: 2,
        result: 'Complete',
        from: one,
        to: two,
        changedBy: { manager: 'evil\u001b[2J', operation: 'Update', time: minutesAgo(60) },
        startedAt: minutesAgo(60),
        finishedAt: minutesAgo(55),
        allNodesUpdatedAt: minutesAgo(40),
        endedAt: minutesAgo(30),
        nodes: 3,
        failures: 0,
      },
      { rollout: 1, result: 'Complete', to: one, endedAt: minutesAgo(60), nodes: 0, failures: 0 },
    ];
    await world.status('past', { history }, 2, 1);
    const [revisions = '', rollouts = '', stages] = (await run('past')).split('\n\n');
    assert.match(revisions, /^REVISION /);
    assert.equal(
      rollouts,
      [
        'ROLLOUT   AGE   FROM   TO   RESULT       NODES   FAILED   DURATION   CHANGED-BY        IMAGES',
        '1                      1    Complete     0       0                                     side:1,web:1',
        '2         60m   1      2    Complete     3       0        5m         evil\\u001b[2J     web:1 -> web:2',
        '3         30m   2      1    RolledBack   2       1        10m        edgeset-manager   web:2 -> web:1',
        '4         10m   1      4    InProgress   1       0        10m',
      ].join('\n'),
    );
    assert.equal(
      stages,
      [
        'ROLLOUT   STAGE    PASSED    HOW      DECIDED-BY                            COMMENT',
        '3         lab      29m ago   ByHand   bob promoted, ann\\u001b[2J approved   hotfix',
        '3         canary',
        '',
      ].join('\n'),
    );
    const wide = await run('past', '-o', 'wide');
    for (const time of [minutesAgo(60), minutesAgo(55), minutesAgo(40), minutesAgo(30), minutesAgo(29), minutesAgo(28)])
      assert.ok(wide.includes(time), time);
    const { rollouts: data } = JSON.parse(await run('past', '-o', 'json')) as { rollouts: unknown };
    assert.deepEqual(data, history.toReversed());
    assert.doesNotMatch(await run('past', '-o', 'name'), /ROLLOUT/);
  });

  it('lists only revisions that the DaemonSet owns, also without opt-in', async () => {
    await create('mine', ['app:1'], {}, 'RollingUpdate');
    await world.change('mine', { metadata: { annotations: { 'apps.openyurt.io/update-strategy': null } } }, 'merge');
    const [mine] = await world.revisions('mine');
    const { name: _, uid: __, resourceVersion: ___, ownerReferences: ____, ...metadata } = mine?.metadata ?? {};
    await world.client.create(controllerRevisions, {
      ...mine,
      metadata: { ...metadata, name: 'stray', ownerReferences: [] },
      revision: 9,
    });
    assert.deepEqual(
      (await table('mine')).map(([number]) => number),
      ['REVISION', '1'],
    );
  });

  it('reports a missing revision or DaemonSet', async () => {
    await create('short', ['app:1']);
    const failed = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await world.run('history', ...args);
      assert.deepEqual([code, stdout], [1, '']);
      return stderr;
    };
    assert.match(
      await failed('short', '--revision', '4'),
      /there is no revision 4 of DaemonSet default\/short: the kept revisions are 1 \(app:1\), the current one/,
    );
    assert.match(await failed('nobody'), /there is no DaemonSet default\/nobody/);
  });

  it('completes revision numbers after the name of the DaemonSet, newest first', async () => {
    await create('tab', ['app:1', 'app:2']);
    const { stdout } = await world.run('__complete', 'undo', 'ds/tab', '--to-revision', '');
    assert.equal(stdout, '2\tapp:2\n1\tapp:1\n:4\n');
    assert.equal((await world.run('__complete', 'history', 'tab', '--revision=1')).stdout, '1\tapp:1\n:4\n');
    assert.equal((await world.run('__complete', 'undo', '--to-revision', '')).stdout, ':4\n');
    await world.change('tab', { metadata: { annotations: { 'apps.openyurt.io/update-strategy': null } } }, 'merge');
    assert.equal((await world.run('__complete', 'undo', 'ta')).stdout, 'tab\n:4\n', 'opted in or not');
  });
});
