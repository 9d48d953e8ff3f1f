import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlannedStage } from '../../commands/index.ts';
import { toTimestamp } from '../../rollout/index.ts';
import { planWith } from '../../view/testing/index.ts';
import type { DaemonRolloutStage, PlanStage, RolloutPlanSpec } from '../../words/index.ts';
import { createFakeCluster, observed } from './testing/fake-cluster.ts';

const PLANS = '/apis/edgeset.io/v1alpha1/namespaces/shop/rolloutplans';

describe('the stages of plan', () => {
  const world = createFakeCluster();
  const ring = (name: string) => ({ selector: { matchLabels: { ring: name } } });
  /** Nodes by ring; those of the lab have the target. */
  const staged = (stages: PlanStage[], status: DaemonRolloutStage[], more: Partial<RolloutPlanSpec> = {}): void => {
    world.api.plurals.add('rolloutplans').add('clusterrolloutplans').add('rolloutapprovals');
    world.daemonSet({ 'edgeset.io/rollout-plan': 'rings', 'apps.openyurt.io/max-unavailable': '2' });
    world.fleet('n1', 'n2', 'n3', 'n4', 'n5', 'n6');
    world.node('n1', true, { labels: { ring: 'lab' } });
    world.pod('n1', 'new');
    world.node('n6', false);
    const plan = planWith('RolloutPlan', { name: 'rings', namespace: 'shop' }, stages);
    world.api.put(PLANS, { ...plan, spec: { ...plan.spec, ...more } });
    world.rollout({
      ...observed,
      startedAt: '2020-01-01T00:00:00Z',
      lastComplete: { revision: 'web-old', hash: 'old' },
      plan: 'rings',
      stages: status,
    });
  };
  const nodes = { total: 1, online: 1, updated: 1 };
  const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();
  /** Passed; its one wave took two minutes. */
  const lab = (): DaemonRolloutStage => ({
    name: 'lab',
    state: 'Passed',
    nodes,
    openedAt: ago(1320),
    coveredAt: ago(1200),
    soakUntil: ago(600),
    promotedAt: ago(600),
    promotion: 'Gates',
  });
  const open = (name: string, more: Partial<DaemonRolloutStage> = {}): DaemonRolloutStage => ({
    name,
    state: 'Open',
    nodes,
    openedAt: ago(1),
    ...more,
  });
  const planned = async (): Promise<PlannedStage[]> => {
    const { stages } = JSON.parse(await world.output('plan', 'web', '-o', 'json')) as { stages: PlannedStage[] };
    return stages;
  };
  const section = async (): Promise<string[]> => {
    const text = await world.output('plan', 'web');
    return text.slice(text.indexOf('Stages of the rollout plan:')).trimEnd().split('\n').slice(1);
  };

  it('name the nodes of each, with the time that its updates and its soak take', async () => {
    staged(
      [
        { name: 'lab', nodes: ring('lab') },
        { name: 'fleet', maxUnavailable: 1, promote: { soak: '1h', approval: { required: true } } },
      ],
      [lab(), open('fleet')],
    );
    assert.deepEqual(await section(), [
      '  lab (passed): n1',
      '  fleet (open): n2, n3, n4, n5, n6',
      '    4 updates, 1 at a time; about 68m; an approval',
      'Stage fleet waits until 100% of its online nodes run the target and are available.',
    ]);
    assert.deepEqual(
      (await planned()).map(({ name, state, nodes: names, updates }) => [name, state, names.length, updates]),
      [
        ['lab', 'passed', 1, 0],
        ['fleet', 'open', 5, 4],
        ['rest', 'closed', 0, 0],
      ],
    );
  });

  it('begin with the nodes on which the revision proves itself', async () => {
    staged([{ name: 'fleet' }], [open('fleet')]);
    world.pod('n1', 'old');
    const policy = { 'edgeset.io/rollout-plan': 'rings', 'apps.openyurt.io/max-unavailable': '100%' };
    world.daemonSet({ ...policy, 'edgeset.io/first-wave': '1' });
    assert.equal((await section())[1], '    5 updates, 1 at first, then up to 5 at a time');
    assert.equal((await planned())[0]?.firstWave, 1);
    world.daemonSet({ ...policy, 'edgeset.io/first-wave': '5' });
    assert.equal((await section())[1], '    5 updates');
  });

  it('say at least how long they take before one has shown how long an update takes', async () => {
    staged(
      [
        { name: 'lab', nodes: ring('lab'), promote: { soak: '30m' } },
        { name: 'fleet', promote: { soak: '4h' } },
      ],
      [open('lab')],
    );
    assert.deepEqual((await section()).slice(0, 4), [
      '  lab (open): n1',
      '    about 30m',
      '  fleet (closed): n2, n3, n4, n5, n6',
      '    4 updates, 2 at a time; at least 4h',
    ]);
  });

  it('preview the sample of the next stage that draws one', async () => {
    staged(
      [
        { name: 'lab', nodes: ring('lab') },
        { name: 'canary', nodes: { count: 2 } },
        { name: 'more', nodes: { count: '50%' } },
      ],
      [open('lab')],
    );
    const [, canary, more] = await planned();
    assert.equal(canary?.sample?.length, 2);
    assert.ok(!canary?.sample?.includes('n6'), 'it is offline');
    // Half of those that neither the lab nor the canaries take.
    assert.deepEqual([more?.undrawn, more?.sample?.length], [true, 2]);
    assert.deepEqual([...(canary?.sample ?? []), ...(more?.sample ?? [])].toSorted(), ['n2', 'n3', 'n4', 'n5']);
    const text = await section();
    assert.ok(
      text.some((line) => /^ {2}canary \(closed\): drawn when it opens; now it would take 2: n\d, n\d$/.test(line)),
      text.join('\n'),
    );
    assert.ok(text.includes('  rest (closed): n6'), 'it is offline, so no sample takes it');
  });

  const ESTIMATE =
    'The times are estimates: as if nodes stayed online, no update failed, checks held, and approvals came at once.';
  const inSeconds = (from: number, text = ''): number => Math.round((Date.parse(text) - from) / 1000);

  it('say when each can begin: after soaks, and what people decide', async () => {
    staged(
      [
        { name: 'lab', nodes: ring('lab'), promote: { soak: '1h', approval: { required: true } } },
        { name: 'more', nodes: { count: 2 }, promote: { soak: '2h' } },
        { name: 'fleet', promote: { approval: { required: true } } },
      ],
      [
        open('lab', {
          openedAt: ago(720),
          coveredAt: ago(600),
          soakUntil: new Date(Date.now() + 3_000_000).toISOString(),
        }),
      ],
    );
    const now = Date.now();
    const [lab1, more, fleet] = await planned();
    assert.equal(lab1?.beginsAt, undefined, 'it is open');
    assert.ok(Math.abs(inSeconds(now, lab1?.passesAt) - 3000) < 300);
    assert.ok(Math.abs(inSeconds(now, more?.beginsAt) - 3000) < 300);
    assert.deepEqual([more?.approvals, more?.waitsFor], [['lab'], undefined]);
    // One wave of two updates, as long as that of the lab, and its soak.
    assert.ok(Math.abs(inSeconds(now, fleet?.beginsAt) - 3000 - 120 - 7200) < 300);
    assert.deepEqual(fleet?.approvals, ['lab']);
    const text = (await section()).join('\n');
    assert.match(text, /^ {4}2 updates; .*\n {4}begins about \S+Z, after approval of lab$/m);
    assert.ok(text.includes(ESTIMATE));
  });

  it('begin only when a freeze has ended', async () => {
    const to = toTimestamp(Date.now() + 10 * 24 * 3_600_000);
    const freezes = [{ from: '2020-01-01', to }];
    staged(
      [
        { name: 'fleet', promote: { soak: '1h' } },
        { name: 'never', nodes: ring('nobody') },
      ],
      [open('fleet')],
      { freezes },
    );
    const [fleet] = await planned();
    assert.equal(fleet?.beginsAt, to);
    assert.equal(inSeconds(Date.parse(to), fleet?.passesAt), 3600);
    assert.match((await section()).join('\n'), new RegExp(`begins about ${to}\\n`));
  });

  it('say not before, until a stage has shown how long an update takes', async () => {
    staged(
      [
        { name: 'fleet', promote: { soak: '1h' } },
        { name: 'lab', nodes: ring('lab') },
      ],
      [open('fleet')],
    );
    world.node('n7', false, { labels: { ring: 'lab' } });
    const [, lab1] = await planned();
    assert.equal(lab1?.isLowerBound, true);
    staged([{ name: 'some', nodes: { count: 2 }, promote: { soak: '1h' } }], []);
    assert.match((await section()).join('\n'), /^ {4}begins not before \S+Z$/m);
  });

  it('say what nobody can foresee', async () => {
    staged(
      [
        { name: 'dark', nodes: ring('dark') },
        { name: 'lab', nodes: ring('lab'), promote: { minNodes: 2 } },
      ],
      [],
    );
    world.node('n6', false, { labels: { ring: 'dark' } });
    assert.deepEqual((await section()).slice(0, 4), [
      '  dark (open): n6',
      '  lab (closed): n1',
      '    opens after one of the nodes of dark comes online',
      '  rest (closed): n2, n3, n4, n5',
    ]);
  });

  it('hold nothing back in a rollback', async () => {
    const stages: PlanStage[] = [
      { name: 'lab', nodes: { count: 1 }, promote: { soak: '1h', approval: { required: true } } },
      { name: 'fleet' },
    ];
    staged(stages, []);
    const status = { plan: 'rings', startedAt: '2020-01-01T00:00:00Z' };
    world.rollout({ ...observed, ...status, rollback: true, lastComplete: { revision: 'web-new', hash: 'new' } });
    assert.deepEqual(await section(), [
      '  lab (open): no nodes',
      '  fleet (open): n1, n2, n3, n4, n5, n6',
      '    4 updates, 2 at a time',
      'They do not hold back a rollback to the revision that was last complete.',
    ]);
  });

  it('tell nodes whose stage has no room as held, as get does', async () => {
    staged(
      [
        { name: 'lab', nodes: ring('lab') },
        { name: 'fleet', maxUnavailable: 1 },
      ],
      [lab(), open('fleet')],
    );
    world.pod('n2', 'old', false);
    const text = await world.output('plan', 'web');
    assert.match(text, /^Online but held back: 3 until fewer nodes of their group or stage are down\. Offline/m);
    const rows = await world.output('get', 'web');
    assert.match(rows, /^n2 +broken .*\nn3 +held +group .*\n/m);
  });

  it('are left out without a plan', async () => {
    world.daemonSet();
    world.fleet('n1');
    assert.doesNotMatch(await world.output('plan', 'web'), /[Ss]tage/);
    assert.equal(
      (JSON.parse(await world.output('plan', 'web', '-o', 'json')) as { stages?: unknown }).stages,
      undefined,
    );
  });
});
