import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count, type Policy, percent } from '../rollout/index.ts';
import { approve, benchAt, ring, stagedBench, type Workbench } from '../rollout/testing/index.ts';
import { annotation, type DaemonRolloutStatus } from '../words/index.ts';
import { type Headline, headlineOf } from './headline.ts';
import { typedCommand } from './remedy.ts';

const revision = (hash: string, version: string) => ({
  revision: `set-${hash}`,
  hash,
  number: 1,
  images: [`registry/pos:${version}`],
});

const status: DaemonRolloutStatus = {
  daemonSetGeneration: 3,
  history: [
    {
      rollout: 2,
      result: 'InProgress',
      from: revision('a', '2.0.1'),
      to: revision('b', '2.1.0'),
      nodes: 0,
      failures: 0,
    },
  ],
};

const of = (bench: Workbench): Parameters<typeof headlineOf>[0] => ({
  ledger: bench.ledger,
  decision: bench.decide(),
  status,
  kind: { short: 'ds' },
  view: {
    namespace: 'shop',
    name: 'pos',
    generation: 3,
    origin: { images: ['registry/pos:2.1.0'], changedBy: undefined },
  },
});

const headline = (bench: Workbench): Headline => headlineOf(of(bench));

const crash = (bench: Workbench, ...nodes: string[]): void => {
  for (const node of nodes) {
    bench.deletePod(node);
    bench.start(node, 'b', {
      ready: false,
      trouble: 'crash-loop',
      detail: 'container main: CrashLoopBackOff (exit code 1, 8 restarts)',
    });
  }
};

const halt = (bench: Workbench, nodes: string[], reason: 'Failures' | 'RolledBack' = 'Failures'): void =>
  bench.ledger.patchState({ halted: { at: bench.now(), reason, nodes } }, bench.now());

describe('the headline of a rollout', () => {
  it('says what a version does that fails everywhere, where first, and what still runs', () => {
    const bench = benchAt(10, { maxUnavailable: count(3) });
    crash(bench, 'n2', 'n1', 'n0');
    halt(bench, ['n0', 'n1', 'n2']);
    assert.deepEqual(headline(bench), {
      state: 'halted',
      badge: 'Halted: 3 failed',
      title: 'Version 2.1.0 crashes on start on all 3 nodes that got it',
      evidence: 'Container main: CrashLoopBackOff (exit code 1, 8 restarts). 7 nodes still run 2.0.1.',
      cause: { cause: 'crash-loop', count: 3 },
      node: 'n0',
      commands: [{ verb: 'undo' }, { verb: 'resume' }],
    });
  });

  it('says on how many of those that got it a version fails, and no cause for all where there are several', () => {
    const bench = benchAt(6, { maxUnavailable: count(3) });
    bench.update('b', 'n4', 'n5');
    crash(bench, 'n0', 'n1');
    halt(bench, ['n0', 'n1']);
    assert.equal(headline(bench).title, 'Version 2.1.0 crashes on start on 2 of 4 nodes that got it');
    bench.change('n1', { trouble: 'image-pull', detail: 'container main: ErrImagePull' });
    const { title, cause } = headline(bench);
    assert.equal(title, 'Version 2.1.0 failed on 2 of 4 nodes that got it');
    assert.equal(cause?.count, 1);
  });

  it('says that nodes went offline after they got the version', () => {
    const bench = benchAt(4);
    bench.update('b', 'n0');
    bench.offline('n0');
    bench.advance(3_600_000);
    halt(bench, ['n0']);
    assert.equal(headline(bench).title, 'Nodes went offline after they got version 2.1.0: 1 of 1');
  });

  it('is what explains the hold where no node failed', () => {
    const bench = benchAt(2);
    halt(bench, [], 'RolledBack');
    assert.match(headline(bench).title, /^This revision was rolled back before/);
    assert.deepEqual(headline(bench).commands, [{ verb: 'undo' }, { verb: 'resume' }]);
    const paused = headline(benchAt(2, { paused: true }));
    assert.deepEqual([paused.state, paused.badge, paused.title], ['paused', 'Paused', 'The rollout is paused']);
    assert.equal(headline(benchAt(2, { maxUnavailable: count(0) })).state, 'frozen');
  });

  it('edits what is not valid: the plan, or the DaemonSet', () => {
    const typed = (rolloutPlan: Policy['rolloutPlan'], field: string): string[] => {
      const reading = of(benchAt(2, { rolloutPlan }));
      const summary = {
        ...reading.decision.summary,
        hold: { kind: 'invalid', errors: [{ ...error, field }] } as const,
      };
      const { commands } = headlineOf({ ...reading, decision: { ...reading.decision, summary } });
      const named = { kind: { short: 'ds' }, view: { name: 'pos' } } as Parameters<typeof typedCommand>[1];
      return commands.map((one) => typedCommand(one, named, (words) => `npx edgeset ${words} -n shop --context b`));
    };
    const error = { value: '1', problem: 'is no number', remedy: 'set 3' };
    const [own, cluster] = [false, true].map((is) => ({ name: 'rings', cluster: is }));
    assert.deepEqual(typed(own, 'rings: spec'), ['kubectl edit rolloutplan/rings -n shop --context b']);
    assert.deepEqual(typed(cluster, 'cluster/rings: spec'), [
      'kubectl edit clusterrolloutplan/rings -n shop --context b',
    ]);
    assert.deepEqual(
      typed(own, annotation.rolloutPlan),
      ['kubectl edit ds/pos -n shop --context b'],
      'there is no plan',
    );
    assert.deepEqual(typed(undefined, 'edgeset.io/first-wave'), ['kubectl edit ds/pos -n shop --context b']);
  });

  it('says who paused it', () => {
    const bench = benchAt(2, { paused: true });
    const pausedBy = { manager: 'kubectl-edgeset', operation: 'Update', time: '2030-01-01T00:00:00Z' };
    const { view, ...rest } = of(bench);
    assert.equal(
      headlineOf({ ...rest, view: { ...view, origin: { ...view.origin, pausedBy } } }).title,
      'Paused by kubectl-edgeset',
    );
  });

  it('says what keeps nodes on the older revision, and not that it is rolling out', () => {
    const bench = benchAt(4, { partition: count(3) });
    bench.update('b', 'n3');
    const { state, badge, title, evidence, commands } = headline(bench);
    assert.deepEqual([state, badge, title], ['kept', '3 left on old revision', '3 nodes stay on 2.0.1']);
    assert.equal(evidence, '1 of 4 online nodes runs version 2.1.0; the partition keeps back 3.');
    assert.deepEqual(commands, [{ verb: 'set', flag: 'partition', value: 'VALUE' }]);
  });

  it('says what a rollout waits for that waits by itself', () => {
    const bench = stagedBench([ring('canary', { soak: '1m' })], ['canary', 'rest']);
    bench.followStages();
    bench.update('b', 'n0');
    bench.followStages();
    const { state, badge, title } = headline(bench);
    assert.deepEqual([state, badge], ['clock', 'Stage canary soaks']);
    assert.match(title, /^Stage canary soaks until 2/);
  });

  it('says how far a rollout is that nothing holds, and nothing once it is complete', () => {
    const bench = benchAt(4, { maxUnavailable: percent(100) });
    bench.update('b', 'n0');
    const { state, badge, title, evidence, commands } = headline(bench);
    assert.deepEqual([state, badge, title], ['running', 'Rolling out: 25%', 'Version 2.1.0 is rolling out']);
    assert.equal(evidence, '1 of 4 online nodes runs it.');
    assert.deepEqual(commands, []);
    bench.update('b', 'n1', 'n2', 'n3');
    assert.deepEqual(headline(bench), { state: 'complete', badge: 'Complete', title: '', evidence: '', commands: [] });
    bench.offline('n3');
    assert.equal(headline(bench).badge, 'Complete, 1 offline');
  });

  it('says what the API server refuses, and not that the version is rolling out', () => {
    const bench = benchAt(2);
    const { decision, ...rest } = of(bench);
    const summary = { ...decision.summary, refusal: 'exceeded quota' };
    const { state, title } = headlineOf({ ...rest, decision: { ...decision, summary } });
    assert.deepEqual([state, title], ['refused', 'The API server refuses new pods: exceeded quota']);
  });

  it('counts every node that has the version, whether or not it works there', () => {
    const bench = benchAt(8, { maxUnavailable: count(4) });
    bench.update('b', 'n5');
    bench.offline('n5');
    bench.advance(1);
    crash(bench, 'n0', 'n1', 'n2');
    halt(bench, ['n0', 'n1', 'n2']);
    assert.equal(headline(bench).title, 'Version 2.1.0 crashes on start on 3 of 4 nodes that got it');
  });

  it('names the stage that waits for approval, and how to give it', () => {
    const bench = stagedBench([ring('canary', { approval: { required: true } })], ['canary', 'rest']);
    bench.followStages();
    bench.update('b', 'n0');
    bench.followStages();
    const { state, title, commands } = headline(bench);
    assert.deepEqual([state, title], ['approval', 'Stage canary waits for approval']);
    assert.deepEqual(commands, [{ verb: 'approve', stage: 'canary' }]);
    approve(bench, 'canary');
    bench.followStages();
    assert.equal(headline(bench).state, 'running');
  });

  it('waits for the manager while there is no status', () => {
    for (const known of [undefined, { ...status, daemonSetGeneration: 2 }]) {
      const { state, title } = headlineOf({ ...of(benchAt(2)), status: known });
      assert.deepEqual([state, title], ['unserved', ''], 'it does not claim that anything runs');
    }
  });

  it('calls a target without a version of its own the revision', () => {
    const bench = benchAt(2);
    const title = headlineOf({
      ...of(bench),
      view: { ...of(bench).view, origin: { images: ['a:1', 'b:2'], changedBy: undefined } },
    }).title;
    assert.equal(title, 'The target revision is rolling out');
  });
});
