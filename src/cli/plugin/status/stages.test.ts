import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../../../test/support/index.ts';
import { stage } from '../../../view/testing/index.ts';
import type { DaemonRolloutStage } from '../../../words/index.ts';
import { terminal } from '../../testing/terminal.ts';
import { createFakeCluster } from '../testing/fake-cluster.ts';
import { createFollow } from '../testing/follow.ts';

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const summary = 'Rolling out';

const rings = (updated = 1): DaemonRolloutStage[] => [
  stage('lab', 'Passed', {
    nodes: { total: 2, online: 2, updated: 2 },
    promotion: 'Gates',
    promotedAt: ago(180),
    promotedBy: 'alice',
  }),
  stage('canary', 'Open', {
    nodes: { total: 4, online: 3, updated },
    soakUntil: ago(-25),
    checks: [
      { name: 'errors', state: 'Passing', failures: 0, message: '0.01' },
      { name: 'latency', state: 'NoResult', failures: 0, message: 'the server does not answer' },
    ],
    awaits: { reason: 'Soak', message: 'soaks until noon' },
  }),
  stage('rest', 'Closed', { nodes: { total: 90, online: 80, updated: 0 }, soakUntil: ago(-5) }),
];

describe('the stages of status', () => {
  const world = createFakeCluster();
  const put = (stages: DaemonRolloutStage[] | undefined, name = 'web'): void => {
    world.daemonSet({}, { name });
    world.rollout({ summary, ...(stages && { plan: 'rings', stages }) }, { name });
  };
  const cells = (text: string): string[][] =>
    text.split('\n').flatMap((line) => (line.startsWith('  ') ? [line.trim().split(/ {3,}/)] : []));

  it('are shown below a rollout that is named', async () => {
    put(rings());
    const text = await world.output('status', 'web');
    assert.match(text, /^NAME .*\nweb .*\n\n {2}STAGE +STATE +UPDATED +NODES +SOAK-LEFT +CHECKS +PROMOTED +AWAITS\n/);
    assert.deepEqual(cells(text).slice(1), [
      ['lab', 'Passed', '2/2', '2', '3h ago, approved by alice'],
      [
        'canary',
        'Open',
        '1/3',
        '4',
        '25m',
        'errors Passing, latency NoResult (the server does not answer)',
        'soaks until noon',
      ],
      ['rest', 'Closed', '0/80', '90'],
    ]);
    assert.match(await world.output('status', 'ds/web', '-o', 'wide'), /errors Passing \(0\.01\), latency/);
  });

  it('say how many nodes have the target before their stage opens', async () => {
    const closed = (exposed: number) =>
      stage('rest', 'Closed', { nodes: { total: 90, online: 80, updated: 2, exposed } });
    put([closed(3)]);
    assert.match(await world.output('status', 'web'), / 2\/80 \(3 exposed\) /);
    put([closed(0)]);
    assert.match(await world.output('status', 'web'), / 2\/80 +90/);
  });

  it('are a column of all rollouts with -o wide', async () => {
    put(rings());
    assert.doesNotMatch(await world.output('status'), /canary/);
    const [header = '', row = ''] = (await world.output('status', '-o', 'wide')).split('\n');
    assert.equal(row.slice(header.indexOf('STAGE')).split(/ {3,}/)[0], 'canary (1/3)');
  });

  it('have the name of their rollout above them if several are named', async () => {
    put(rings());
    put(undefined, 'plain');
    put([stage('lab', 'Open')], 'db');
    const text = await world.output('status', 'web', 'db', 'plain');
    assert.match(
      text,
      /\n\ndb:\n {2}STAGE .*\n {2}lab .*\n\nweb:\n {2}STAGE .*\n {2}lab .*\n {2}canary .*\n {2}rest .*\n$/,
    );
  });

  it('say how each was passed', async () => {
    const promotedAt = ago(5);
    put([
      stage('a', 'Passed', { promotion: 'Gates', promotedAt }),
      stage('b', 'Passed', { promotion: 'Empty', promotedAt }),
      stage('c', 'Passed', { promotion: 'Timeout', promotedAt }),
      stage('d', 'Passed', { promotion: 'ByHand', promotedAt, promotedBy: 'bob' }),
    ]);
    assert.deepEqual(
      cells(await world.output('status', 'web'))
        .slice(1)
        .map((row) => row.at(-1)),
      ['5m ago', '5m ago, it has no nodes', '5m ago, timed out', '5m ago, by hand, by bob'],
    );
  });

  it('are left out while the status is not about the present', async () => {
    put(rings());
    world.daemonSet({}, { generation: 3 });
    assert.doesNotMatch((await world.run(['status', 'web'])).stdout, /canary/);
  });

  const follow = createFollow(world.run, 'status', '-w');

  it('are appended by -w as they change, below their rollout', async () => {
    put(rings());
    const { stdout } = await follow(['web'], {}, async (output) => {
      await eventually('the stages', () => output.stdout.includes('canary'));
      put(rings(2));
      await eventually('the change', () => output.stdout.includes('2/3'));
    });
    assert.match(stdout, /\n {2}rest .*\nweb +Rolling out .*\n {2}canary +Open +2\/3 .*\n$/);
    assert.equal(stdout.match(/STAGE/g)?.length, 1);
    assert.equal(stdout.match(/^ {2}lab/gm)?.length, 1, 'it has not changed');
  });

  it('are redrawn by -w on a terminal', async () => {
    put(rings());
    const tty = terminal(200, 24);
    const { stdout } = await follow(['web'], { screen: () => tty.size }, async (output) => {
      await eventually('the stages', () => output.stdout.includes('canary'));
      put(rings(2));
      await eventually('the change', () => output.stdout.includes('2/3'));
    });
    tty.write(stdout);
    assert.match(tty.lines().join('\n'), /^NAME[^]*\n {2}lab .*\n {2}canary +Open +2\/3 .*\n {2}rest .*\n$/);
  });
});
