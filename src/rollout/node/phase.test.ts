import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { causesOf, phases } from '../../words/index.ts';
import { count } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { explain } from '../report/explain.ts';
import { benchAt, planOf, type Workbench } from '../testing/workbench.ts';
import type { RuleCause } from './phase.ts';

/** For every cause, how the node n0 of two gets there. */
const ways: Record<RuleCause, { policy?: Partial<Policy>; to: (bench: Workbench) => void }> = {
  current: { to: (bench) => bench.update('b', 'n0') },
  reserved: { to: (bench) => bench.reserve('n0') },
  preparing: {
    to: (bench) => {
      bench.reserve('n0');
      bench.change('n0', { preparingDelete: true });
    },
  },
  terminating: { to: (bench) => bench.change('n0', { terminating: true }) },
  'no-pod-yet': { to: (bench) => bench.deletePod('n0') },
  starting: {
    to: (bench) => {
      bench.deletePod('n0');
      bench.start('n0', 'b', { ready: false });
    },
  },
  'ready-too-short': { policy: { minReadyMs: 5_000 }, to: (bench) => bench.update('b', 'n0') },
  'not-ready': {
    to: (bench) => {
      bench.update('b', 'n0');
      bench.change('n0', { ready: false, readyChangedAt: bench.now() });
    },
  },
  surging: { policy: { maxSurge: count(1) }, to: (bench) => bench.surge('n0') },
  changing: { policy: { inPlace: true }, to: (bench) => bench.updateInPlace('n0') },
  'not-changed-in-time': {
    policy: { inPlace: true, progressDeadlineMs: 1_000 },
    to: (bench) => {
      bench.updateInPlace('n0');
      bench.advance(1_000);
    },
  },
  image: { policy: { predownload: 'required' }, to: () => undefined },
  available: { to: () => undefined },
  'not-available': { to: (bench) => bench.change('n0', { ready: false, readyChangedAt: bench.now() }) },
  'broken-by-older-update': {
    to: (bench) => {
      bench.deletePod('n0');
      bench.start('n0', 'b', { ready: false });
      bench.target('c');
    },
  },
  'offline-current': {
    to: (bench) => {
      bench.update('b', 'n0');
      bench.advance(3_600_000);
      bench.offline('n0');
    },
  },
  'offline-outdated': { to: (bench) => bench.offline('n0') },
  suspect: {
    to: (bench) => {
      bench.deletePod('n0');
      bench.offline('n0');
    },
  },
  lost: {
    to: (bench) => {
      bench.deletePod('n0');
      bench.offline('n0');
      bench.advance(300_000);
    },
  },
  returned: {
    to: (bench) => {
      bench.offline('n0');
      bench.online('n0');
    },
  },
  'duplicate-pods': { to: (bench) => bench.pod('n0', 'a') },
  refused: { to: (bench) => bench.ledger.refuse('n0', 'admission webhook denied the request', bench.now()) },
  'node-selector': { to: (bench) => bench.node('n0', { selected: false }) },
  partition: { to: (bench) => bench.policy({ partition: { kind: 'int', value: 1 } }) },
  stage: {
    policy: {
      plan: planOf({
        stages: [
          { name: 'lab', nodes: { count: 0 } },
          { name: 'canary', nodes: { count: 0 } },
        ],
      }),
    },
    to: () => undefined,
  },
  after: { to: (bench) => bench.ledger.setWaitsFor('n0', 'driver', bench.now()) },
  busy: { to: (bench) => bench.node('n0', { busy: 'a taint' }) },
  window: { policy: { plan: planOf({ freezes: [{ from: '2000-01-01', to: '2100-01-01' }] }) }, to: () => undefined },
  'crash-loop': {
    to: (bench) => {
      bench.deletePod('n0');
      bench.start('n0', 'b', { ready: false, trouble: 'crash-loop', detail: 'exit code 1' });
    },
  },
  'image-pull': {
    to: (bench) => {
      bench.deletePod('n0');
      bench.start('n0', 'b', { ready: false, trouble: 'image-pull', detail: 'no such image' });
    },
  },
  deadline: {
    to: (bench) => {
      bench.deletePod('n0');
      bench.start('n0', 'b', { ready: false });
      bench.advance(600_000);
    },
  },
  'came-back-old': { to: (bench) => bench.update('a', 'n0') },
  'no-pod': { to: (bench) => bench.removePod('n0') },
};

describe('the phase of a node', () => {
  for (const phase of phases)
    for (const cause of causesOf[phase].filter((each) => each !== 'group'))
      it(`is ${phase} for ${cause}, explained in a true sentence, and inCoverage once`, () => {
        const { policy, to } = ways[cause];
        const bench = benchAt(2, policy);
        to(bench);
        bench.advance(0);
        assert.equal(bench.phase('n0'), `${phase}/${cause}`);
        const { tally } = bench.ledger;
        assert.equal(tally.eligible, 2);
        assert.equal(
          phases.reduce((sum, each) => sum + tally.phases[each], 0),
          2,
        );
        assert.ok((tally.causes.get(cause) ?? 0) >= 1);
        const record = bench.ledger.get('n0')!;
        const told = explain(record, bench.ledger.policy, bench.decide().summary, bench.now());
        assert.equal(told.phase, phase);
        assert.ok(told.what.startsWith('n0 ') && told.what.endsWith('.') && told.what.length > 15, told.what);
        assert.doesNotMatch(told.what + told.remedy, /undefined|NaN|\[object|: ;| {2}|\.\./);
      });

  it('is undefined for a node that the DaemonSet does not run on, and for one without a Node object', () => {
    const bench = benchAt(2);
    bench.node('n0', { eligible: false });
    bench.ledger.removeNode('n1', bench.now());
    assert.equal(bench.ledger.tally.eligible, 0);
    for (const name of ['n0', 'n1']) {
      const told = explain(bench.ledger.get(name)!, bench.ledger.policy, {}, bench.now());
      assert.equal(told.phase, 'not-eligible');
      assert.match(told.what, name === 'n0' ? /does not run on/ : /no Node of this name/);
    }
  });

  it('is that of the first matching rule', () => {
    const bench = benchAt(2);
    bench.update('b', 'n0');
    bench.ledger.refuse('n0', 'no', bench.now());
    assert.equal(bench.cause('n0'), 'current');
    bench.node('n1', { selected: false });
    bench.offline('n1');
    assert.equal(bench.cause('n1'), 'offline-outdated');
    bench.online('n1');
    assert.equal(bench.cause('n1'), 'returned');
  });

  it('is held for a live old pod beside a terminating one: the native controller would create no other', () => {
    const bench = benchAt(1);
    bench.change('n0', { terminating: true });
    bench.pod('n0', 'a');
    assert.equal(bench.cause('n0'), 'duplicate-pods');
    assert.deepEqual(bench.nodesOf('reserve'), []);
  });

  it('is held for several pods without using the budget, if the one that stays is available', () => {
    for (const other of ['live', 'terminating', 'broken'] as const) {
      const bench = benchAt(4);
      if (other === 'terminating') bench.change('n3', { terminating: true });
      bench.pod('n3', 'a', { createdAt: bench.now(), ...(other === 'broken' && { ready: false }) });
      assert.equal(bench.cause('n3'), 'duplicate-pods', other);
      assert.equal(bench.nodesOf('reserve').length, 1, other);
    }
    const bench = benchAt(4);
    bench.change('n3', { ready: false });
    bench.pod('n3', 'a', { createdAt: bench.now() });
    assert.equal(bench.cause('n3'), 'duplicate-pods');
    assert.deepEqual(bench.nodesOf('reserve'), [], 'the older one stays');
  });
});

describe('a pod that has ended and is being deleted', () => {
  const held = { terminating: true, finished: 'Failed', ready: false } as const;

  it('is none: its node counts by the pod beside it, and is updated like others', () => {
    const bench = benchAt(2);
    bench.update('b', 'n1');
    bench.change('n0', held);
    bench.pod('n0', 'a');
    assert.equal(bench.cause('n0'), 'available');
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
    bench.update('b', 'n0');
    assert.equal(bench.cause('n0'), 'current');
  });

  it('leaves its node without a pod', () => {
    const bench = benchAt(2);
    bench.change('n0', held);
    assert.equal(bench.cause('n0'), 'no-pod');
  });

  it('carries out the update that deleted it, although a finalizer holds it', () => {
    const bench = benchAt(2);
    bench.reserve('n0');
    bench.change('n0', { terminating: true });
    assert.equal(bench.cause('n0'), 'terminating');
    bench.change('n0', held);
    assert.equal(bench.cause('n0'), 'no-pod-yet');
    bench.pod('n0', 'b');
    assert.equal(bench.cause('n0'), 'current');
  });

  it('is waited for while its containers may run, or while it is not being deleted', () => {
    for (const facts of [{ terminating: true }, { finished: 'Failed', ready: false }] as const) {
      const bench = benchAt(1);
      bench.change('n0', facts);
      bench.pod('n0', 'a');
      assert.equal(bench.cause('n0'), 'duplicate-pods');
    }
  });
});

it('shows a refusal even while the slot of the update is kept', () => {
  const bench = benchAt(2);
  bench.target('b');
  bench.reserve('n0');
  bench.ledger.refuse('n0', 'admission webhook denied the request', bench.now());
  assert.equal(bench.ledger.get('n0')?.status.cause, 'refused');
  assert.equal(bench.ledger.tally.inFlight, 1);
});
