import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { eventually } from '../../../../test/support/index.ts';
import { paint, withoutColors } from '../../color.ts';
import { terminal } from '../../testing/terminal.ts';
import { createFakeCluster, ROLLOUTS } from '../testing/fake-cluster.ts';
import { createFollow } from '../testing/follow.ts';

describe('status -w', () => {
  const world = createFakeCluster();
  beforeEach(() => world.daemonSet());

  const follow = createFollow(world.run, 'status', '-w');
  const rows = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('web '));

  it('appends a row for each visible change, under one header', async () => {
    world.rollout({ summary: 'Rolling out' });
    const { code, stdout, stderr } = await follow([], {}, async (output) => {
      await eventually('the first row', () => output.stdout.includes('Rolling out'));
      world.rollout({ summary: 'Rolling out', leader: 'another', estimatedFinishAt: '2999-01-01T00:00:00Z' });
      world.rollout({ summary: 'Complete (1 offline)' });
      await eventually('the second row', () => output.stdout.includes('Complete'));
    });
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(stdout.match(/NAME/g)?.length, 1);
    assert.deepEqual(
      rows(stdout).map((row) => row.split(/ {3,}/)[1]),
      ['Rolling out', 'Complete (1 offline)'],
    );
  });

  it('waits for the first rollout, and reports a deleted one', async () => {
    const { stdout, stderr } = await follow([], {}, async (output) => {
      await eventually('the first row', () => rows(output.stdout).length === 1);
      world.rollout({ summary: 'Rolling out' });
      await eventually('the row', () => rows(output.stdout).length === 2);
      world.api.remove(ROLLOUTS, 'web');
      await eventually('the end of it', () => output.stderr.includes('deleted'));
    });
    assert.match(stdout, /^NAME .*\nweb +Not served .*\nweb +Rolling out .*\n$/);
    assert.equal(stderr, 'DaemonRollout shop/web was deleted.\n');
  });

  it('reports a failed watch, and continues', async () => {
    world.rollout({ summary: 'Rolling out' });
    const { stdout } = await follow([], {}, async (output) => {
      await eventually('the first row', () => rows(output.stdout).length === 1);
      let refusals = 1;
      world.api.fault = (_, path) => {
        if (path !== ROLLOUTS) return undefined;
        refusals -= 1;
        return refusals >= 0 ? { status: 500, reason: 'InternalError' } : undefined;
      };
      world.api.endWatches();
      await eventually('the trouble', () => output.stderr.includes('The watch failed'));
      world.rollout({ summary: 'Complete' });
      await eventually('the second row', () => output.stdout.includes('Complete'));
    });
    assert.equal(rows(stdout).length, 2);
  });

  it('shows at once that a status is no longer about the present', async () => {
    world.rollout({ summary: 'Complete' });
    const { stdout } = await follow([], {}, async (output) => {
      await eventually('the first row', () => output.stdout.includes('Complete'));
      world.daemonSet({}, { generation: 3 });
      await eventually('the doubt', () => output.stdout.includes('Waiting for the manager'));
      world.rollout({ summary: 'Rolling out', daemonSetGeneration: 3 });
      await eventually('the manager', () => output.stdout.includes('Rolling out'));
    });
    assert.deepEqual(
      rows(stdout).map((row) => row.split(/ {3,}/)[1]),
      ['Complete', 'Waiting for the manager', 'Rolling out'],
    );
  });

  it('redraws the table on a terminal', async () => {
    const ready = {
      type: 'Ready',
      status: 'False',
      reason: 'RollingOut',
      message: '',
      lastTransitionTime: '',
    } as const;
    world.rollout({ summary: 'Rolling out', conditions: [ready] });
    const tty = terminal(100, 24);
    const { stdout } = await follow([], { screen: () => tty.size }, async (output) => {
      await eventually('the table', () => output.stdout.includes('Rolling out'));
      world.rollout({ summary: 'Complete' });
      await eventually('the next', () => output.stdout.includes('Complete'));
    });
    assert.ok(stdout.includes(paint('Rolling out', 'accent')));
    tty.write(stdout);
    assert.match(tty.lines().join('\n'), /^NAME .*\nweb .*Complete.*\n$/, 'in place');
    assert.equal(tty.isRestored(), true);
  });

  for (const environment of [{ NO_COLOR: '1' }, { CI: 'true' }])
    it(`appends on a terminal with ${Object.keys(environment)[0]}`, async () => {
      world.rollout({ summary: 'Rolling out' });
      const io = {
        screen: () => ({ columns: 100, rows: 24 }),
        environment: { KUBECONFIG: world.kubeconfig, ...environment },
      };
      const { stdout } = await follow([], io, async (output) => {
        await eventually('the first row', () => rows(output.stdout).length === 1);
        world.rollout({ summary: 'Complete' });
        await eventually('the second row', () => rows(output.stdout).length === 2);
      });
      assert.ok(!withoutColors(stdout).includes('\u001B'));
      assert.equal(stdout.includes('\u001B'), !('NO_COLOR' in environment), 'colors');
    });

  it('prints one document per change with -o yaml', async () => {
    world.rollout({ summary: 'Rolling out' });
    const { stdout } = await follow(['web', '-o', 'yaml'], {}, async (output) => {
      await eventually('the first', () => output.stdout.includes('Rolling out'));
      world.rollout({ summary: 'Complete' });
      await eventually('the second', () => output.stdout.includes('Complete'));
    });
    assert.equal(stdout.match(/^---$/gm)?.length, 2);
  });
});
