import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Hold } from '../decision/hold.ts';
import { annotation } from '../policy/annotations.ts';
import { count } from '../policy/int-or-percent.ts';
import { policyWith } from '../testing/policy.ts';
import { benchAt, imagesOf, type Workbench } from '../testing/workbench.ts';
import { explain, explainHold, policyWarnings } from './explain.ts';

const breaker = { failures: 1, suspects: 2, threshold: 3, open: true, mustHalt: false };
const holds: [Hold, what: RegExp, remedy: RegExp][] = [
  [{ kind: 'unsynced' }, /not complete/, /without your doing/],
  [{ kind: 'unobserved' }, /has not recorded the current template/, /kube-controller-manager/],
  [
    { kind: 'invalid', errors: [{ field: 'f', value: 'v', problem: 'is odd', cure: 'make it even' }] },
    /policy is not valid/,
    /f "v" is odd: make it even\./,
  ],
  [{ kind: 'deleted' }, /being deleted/, /preDelete hook/],
  [{ kind: 'owner' }, /owner of each device decides when its pod is replaced\.?$/, new RegExp(annotation.strategy)],
  [
    { kind: 'owner', deadline: { at: '2030-01-01T00:00:00.000Z', spreadMs: 3_600_000 } },
    /owner of each device decides .* until 2030-01-01T00:00:00\.000Z: within 60 min/,
    /PodNeedUpgrade/,
  ],
  [{ kind: 'manual' }, /OnDelete/, /deleted comes back at the target/],
  [{ kind: 'paused' }, /paused/, new RegExp(annotation.paused)],
  [{ kind: 'frozen' }, /budget is zero/, new RegExp(annotation.maxUnavailable)],
  [{ kind: 'halted', halt: { at: 1, reason: 'Failures', nodes: ['x1', 'x2'] } }, /failed on x1, x2/, /resume/],
  [{ kind: 'halted', halt: { at: 1, reason: 'RolledBack', nodes: [] } }, /rolled back before/, /resume/],
  [{ kind: 'waiting', breaker }, /1 failure and 2 suspects reach the threshold of 3/, /cleared/],
];
const told = (bench: Workbench, node: string) =>
  explain(bench.ledger.get(node)!, bench.ledger.policy, bench.decide().summary.hold, bench.now());

describe('explainHold', () => {
  for (const [hold, what, remedy] of holds)
    it(`tells of ${hold.kind}${hold.kind === 'halted' ? ` (${hold.halt.reason})` : ''} and of its end`, () => {
      const text = explainHold(hold);
      assert.match(text.what, what);
      assert.match(text.remedy, remedy);
      assert.doesNotMatch(text.what, /undefined|\.$/);
    });
});

describe('explain', () => {
  it('tells a waiting node what holds the whole rollout, and no other node', () => {
    const bench = benchAt(3, { maxUnavailable: count(1) });
    bench.update('b', 'n0');
    bench.change('n2', { ready: false, readyChangedAt: bench.now() });
    for (const [hold, what] of holds) {
      const record = (name: string) => explain(bench.ledger.get(name)!, bench.ledger.policy, hold, bench.now());
      assert.match(record('n1').what, what);
      assert.match(record('n1').what, /^n1 runs an older revision/);
      assert.match(record('n2').what, what);
      assert.equal(record('n0').what, 'n0 runs the target revision.');
    }
  });

  it('tells a waiting node of the budget when nothing else holds it', () => {
    const bench = benchAt(2, { maxUnavailable: count(1) });
    assert.match(told(bench, 'n1').what, /waits for a free slot/);
    assert.match(told(bench, 'n1').remedy, /max-unavailable/);
    assert.equal(told(bench, 'n1').lookedAtAgain, undefined);
  });

  it('tells times, and when it looks again', () => {
    const bench = benchAt(2);
    bench.offline('n0');
    bench.pass(90_000);
    assert.match(told(bench, 'n0').what, /has been offline for 90 s/);
    bench.pass(3_600_000);
    assert.match(told(bench, 'n0').what, /has been offline for 62 min/);
    bench.pass(36_000_000);
    assert.match(told(bench, 'n0').what, /has been offline for 11 h/);
    bench.online('n0');
    bench.pass(4_000);
    assert.match(told(bench, 'n0').what, /back online for 4 s, .* for 10 s/);
    assert.equal(told(bench, 'n0').lookedAtAgain, bench.now() + 6_000);
  });

  it("tells of the pod's own trouble", () => {
    const bench = benchAt(3);
    bench.act('n0');
    bench.start('n0', 'b', { ready: false, trouble: 'image-pull', detail: 'no such image: web:2' });
    assert.match(told(bench, 'n0').what, /cannot be pulled: no such image: web:2\.$/);
    assert.match(told(bench, 'n0').remedy, /template/);
  });

  it('tells how far images are that a node waits for, and with what cause they cannot be pulled', () => {
    const bench = benchAt(2, { predownload: 'required' });
    const told0 = () => told(bench, 'n0');
    assert.match(told0().what, /^n0 is left alone until the images .*, and waits for its turn to pull them\.$/);
    assert.match(told0().remedy, /image-predownload-parallelism/);
    bench.change('n0', imagesOf('b', 'pulling', { byAgent: true }));
    assert.match(told0().what, /: they are being pulled\.$/);
    bench.change('n0', imagesOf('b', 'failed'));
    assert.match(told0().what, /which cannot be pulled: no such image\.$/);
    assert.match(told0().remedy, /set edgeset\.io\/predownload to off to go on without/);
    bench.policy({ predownload: 'preferred' });
    assert.match(told0().what, /are on it, though not for long, which/);
    assert.equal(told0().lookedAtAgain, bench.now() + 300_000);
  });

  it('tells how far images are that are pulled though nothing waits for them', () => {
    const bench = benchAt(2, { predownloadParallelism: count(2), maxUnavailable: count(1) });
    const saying = (state: 'requested' | 'present' | 'failed'): string => {
      bench.change('n1', imagesOf('b', state));
      return told(bench, 'n1').what;
    };
    assert.match(saying('requested'), /older revision, is pulling the images of the target, and waits for a free slot/);
    assert.match(saying('present'), /older revision, has the images of the target, and waits/);
    assert.match(saying('failed'), /cannot pull the images of the target \(no such image\), and waits/);
    bench.policy({ partition: count(2) });
    assert.match(told(bench, 'n1').what, /is left on the older revision by \S+, cannot pull the images/);
  });

  it('tells what the scheduler says of a pod that it has not placed, beside an old one or alone', () => {
    const bench = benchAt(2, { maxSurge: count(1), maxUnavailable: count(0) });
    const unplaced = { ready: false, unbound: true as const, detail: 'not scheduled (no free ports)' };
    bench.surge('n0', unplaced);
    assert.match(told(bench, 'n0').what, /not placed the new one beside it: not scheduled \(no free ports\)\.$/);
    assert.match(told(bench, 'n0').remedy, /host port/);
    const alone = benchAt(2);
    alone.act('n0');
    alone.start('n0', 'b', unplaced);
    assert.match(told(alone, 'n0').what, /is starting the target revision .*: not scheduled \(no free ports\)\.$/);
  });

  it('tells why an act was refused and when it is tried again, also when the server gave no reason', () => {
    const bench = benchAt(2);
    bench.ledger.refuse('n0', 'quota exceeded', bench.now());
    assert.match(told(bench, 'n0').what, /quota exceeded; tried again in 1 s/);
    bench.ledger.refuse('n1', '', bench.now());
    assert.match(told(bench, 'n1').what, /no reason was given; tried again/);
  });
});

describe('hazards', () => {
  it('warns when minReadySeconds is shorter than the time in which a loss is noticed', () => {
    assert.match(policyWarnings(policyWith({ minReadyMs: 5_000 }), 40_000)[0] ?? '', /5 s.*40 s/);
    assert.deepEqual(policyWarnings(policyWith({ minReadyMs: 40_000 }), 40_000), []);
  });
});
