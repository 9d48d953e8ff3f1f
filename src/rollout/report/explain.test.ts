import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotation } from '../../words/index.ts';
import type { Hold } from '../decision/hold.ts';
import { count } from '../policy/int-or-percent.ts';
import { benchAt, daemonSetName, imagesOf, policyWith, type Workbench } from '../testing/workbench.ts';
import { DETECTION_LAG_MS, explain, policyWarnings, refusedSurges } from './explain.ts';
import { explainHold } from './explain-hold.ts';
import { runHere } from './remedy-command.ts';

const breaker = { failures: 1, suspects: 2, threshold: 3, open: true, mustHalt: false };
const holds: [Hold, what: RegExp, remedy: RegExp][] = [
  [{ kind: 'unsynced' }, /cache is not synced/, /by itself/],
  [{ kind: 'unobserved' }, /has not recorded the current template/, /kube-controller-manager/],
  [
    { kind: 'invalid', errors: [{ field: 'f', value: 'v', problem: 'is odd', remedy: 'make it even' }] },
    /policy is not valid/,
    /f "v" is odd: make it even\./,
  ],
  [{ kind: 'deleted' }, /being deleted/, /preDelete hook/],
  [{ kind: 'owner' }, /owner of each device decides when its pod is replaced\.?$/, new RegExp(annotation.strategy)],
  [
    { kind: 'owner', deadline: { at: '2030-01-01T00:00:00.000Z', spreadMs: 3_600_000 } },
    /owner of each device decides .* until 2030-01-01T00:00:00\.000Z: within 60 min after that/,
    /PodNeedUpgrade/,
  ],
  [{ kind: 'manual' }, /OnDelete/, /deleted pod is recreated at the target/],
  [{ kind: 'paused' }, /paused/, /^Run "kubectl edgeset resume ds\/app -n edge"\.$/],
  [{ kind: 'frozen' }, /budget is zero/, /^Run "kubectl edgeset set ds\/app --max-unavailable VALUE -n edge"\.$/],
  [
    { kind: 'halted', halt: { at: 1, reason: 'Failures', nodes: ['x1', 'x2'] }, failures: 1 },
    /failed on 2 nodes: x1, x2\.?$/,
    /^Roll back, set a template that works, or continue despite the failures\. Run "kubectl edgeset undo ds\/app -n edge" or "kubectl edgeset resume ds\/app -n edge"\.$/,
  ],
  [
    { kind: 'halted', halt: { at: 1, reason: 'Failures', nodes: ['x1', 'x2'] }, failures: 12 },
    /failed on 12 nodes: x1, x2 and 10 more\.?$/,
    /^Roll back/,
  ],
  [
    { kind: 'halted', halt: { at: 1, reason: 'RolledBack', nodes: [] }, failures: 0 },
    /rolled back before/,
    /^Roll back, set another template, or continue with this one\. Run "kubectl edgeset undo ds\/app -n edge" or "kubectl edgeset resume ds\/app -n edge"\.$/,
  ],
  [
    { kind: 'halted', halt: { at: 1, reason: 'CheckFailed', nodes: [], check: 'canary/errors' }, failures: 0 },
    /check canary\/errors of the rollout plan failed/,
    /^Roll back, .* or continue to have the check evaluated again\. Run .* or /,
  ],
  [{ kind: 'window', until: Date.parse('2030-01-01') }, /No window .* open until 2030-01-01T00:00:00Z/, /windows/],
  [
    { kind: 'window', until: Number.POSITIVE_INFINITY, freeze: 'holidays' },
    /freeze .* forbids updates from now on \(holidays\)/,
    /freezes/,
  ],
  [{ kind: 'waiting', breaker }, /1 failure and 2 suspects reach the threshold of 3/, /cleared/],
];
const explained = (bench: Workbench, node: string) =>
  explain(bench.ledger.get(node)!, bench.ledger.policy, bench.decide().summary, bench.now());

describe('explainHold', () => {
  for (const [hold, what, remedy] of holds)
    it(`says what ${hold.kind}${hold.kind === 'halted' ? ` (${hold.halt.reason})` : ''} means and what to do about it`, () => {
      const text = explainHold(hold);
      assert.match(text.what, what);
      assert.match(`${text.remedy} ${runHere(text.commands, daemonSetName)}`.trim(), remedy);
      assert.doesNotMatch(text.what, /undefined|\.$/);
    });
});

describe('explain', () => {
  it('says of waiting nodes, and of no others, what holds the whole rollout', () => {
    const bench = benchAt(3, { maxUnavailable: count(1) });
    bench.update('b', 'n0');
    bench.change('n2', { ready: false, readyChangedAt: bench.now() });
    for (const [hold, what] of holds) {
      const record = (name: string) => explain(bench.ledger.get(name)!, bench.ledger.policy, { hold }, bench.now());
      assert.match(record('n1').what, what);
      assert.match(record('n1').what, /^n1 runs an older revision/);
      assert.match(record('n2').what, what);
      assert.equal(record('n0').what, 'n0 runs the target revision.');
    }
  });

  it('says that a waiting node waits for the budget when nothing else holds it', () => {
    const bench = benchAt(2, { maxUnavailable: count(1) });
    assert.match(explained(bench, 'n1').what, /waits for a free slot/);
    assert.deepEqual(explained(bench, 'n1').commands, [{ verb: 'set', flag: 'max-unavailable', value: 'VALUE' }]);
    assert.equal(explained(bench, 'n1').lookedAtAgain, undefined);
  });

  it('gives times, and when the node is reassessed', () => {
    const bench = benchAt(2);
    bench.offline('n0');
    bench.advance(90_000);
    assert.match(explained(bench, 'n0').what, /has been offline for 90 s/);
    bench.advance(3_600_000);
    assert.match(explained(bench, 'n0').what, /has been offline for 62 min/);
    bench.advance(36_000_000);
    assert.match(explained(bench, 'n0').what, /has been offline for 11 h/);
    bench.online('n0');
    bench.advance(4_000);
    assert.match(explained(bench, 'n0').what, /back online for 4 s; .* for 10 s/);
    assert.equal(explained(bench, 'n0').lookedAtAgain, bench.now() + 6_000);
  });

  it("quotes the pod's own trouble", () => {
    const bench = benchAt(3);
    bench.deletePod('n0');
    bench.start('n0', 'b', { ready: false, trouble: 'image-pull', detail: 'no such image: web:2' });
    assert.match(explained(bench, 'n0').what, /cannot be pulled: no such image: web:2\.$/);
    assert.match(explained(bench, 'n0').remedy, /template/);
  });

  it('says of which revision the next pod is on a node that is kept from the target', () => {
    const bench = benchAt(2, { recreate: 'held-revision', partition: count(1) });
    bench.ledger.patchState({ lastComplete: { name: 'set-a', hash: 'a' } }, bench.now());
    const next =
      /; its next one is of revision a, which was last complete, because the node is kept from the target\.$/;
    bench.change('n0', { terminating: true });
    assert.match(explained(bench, 'n0').what, next);
    bench.removePod('n0');
    assert.match(explained(bench, 'n0').what, next);
    bench.removePod('n1');
    assert.match(explained(bench, 'n1').what, /^n1 has no pod, and no update deleted it\.$/);
  });

  it('says how far the images are that a node waits for, and why they cannot be pulled', () => {
    const bench = benchAt(2, { predownload: 'required' });
    const explained0 = () => explained(bench, 'n0');
    assert.match(explained0().what, /^n0 waits until the images .*; its turn to pull them has not come\.$/);
    assert.match(explained0().remedy, /image-predownload-parallelism/);
    bench.change('n0', imagesOf('b', 'requested'));
    assert.match(explained0().what, /: they are being pulled\.$/);
    bench.change('n0', imagesOf('b', 'failed'));
    assert.match(explained0().what, /but they cannot be pulled: no such image\.$/);
    assert.match(explained0().remedy, /set edgeset\.io\/predownload to off to update without them/);
    bench.policy({ predownload: 'preferred' });
    assert.match(explained0().what, /are on it, or until the pre-download timeout, but/);
    assert.equal(explained0().lookedAtAgain, bench.now() + 300_000);
  });

  it('says how far images are that are pulled although nothing waits for them', () => {
    const bench = benchAt(2, { predownloadParallelism: count(2), maxUnavailable: count(1) });
    const saying = (state: 'requested' | 'present' | 'failed'): string => {
      bench.change('n1', imagesOf('b', state));
      return explained(bench, 'n1').what;
    };
    assert.match(saying('requested'), /older revision, is pulling the images of the target, and waits for a free slot/);
    assert.match(saying('present'), /older revision, has the images of the target, and waits/);
    assert.match(saying('failed'), /cannot pull the images of the target \(no such image\), and waits/);
    bench.policy({ partition: count(2) });
    assert.match(explained(bench, 'n1').what, /is kept on the older revision by \S+, cannot pull the images/);
  });

  it('quotes the scheduler about a pod that it has not placed, beside an old one or alone', () => {
    const bench = benchAt(2, { maxSurge: count(1), maxUnavailable: count(0) });
    const unplaced = { ready: false, unbound: true as const, detail: 'not scheduled (no free ports)' };
    bench.surge('n0', unplaced);
    assert.match(explained(bench, 'n0').what, /not placed the new one beside it: not scheduled \(no free ports\)\.$/);
    assert.match(explained(bench, 'n0').remedy, /host port.* set maxUnavailable in place of maxSurge/);
    const context = { ...bench.decide().summary, refusedSurges: refusedSurges(bench.ledger) };
    const waiting = explain(bench.ledger.get('n1')!, bench.ledger.policy, context, bench.now());
    assert.equal(
      waiting.remedy,
      '1 new pod has no place beside the old one: set maxUnavailable in place of maxSurge: then each old pod is deleted first.',
    );
    const fresh = benchAt(2, { maxSurge: count(1), maxUnavailable: count(0) });
    fresh.surge('n0', { ...unplaced, detail: '' });
    assert.equal(refusedSurges(fresh.ledger), 0, 'the scheduler has not looked at it yet');
    const alone = benchAt(2);
    alone.deletePod('n0');
    alone.start('n0', 'b', unplaced);
    assert.match(explained(alone, 'n0').what, /is starting the target revision .*: not scheduled \(no free ports\)\.$/);
  });

  it('says why an update was refused and when it is tried again, even if the server gave no reason', () => {
    const bench = benchAt(2);
    bench.ledger.refuse('n0', 'quota exceeded', bench.now());
    assert.match(explained(bench, 'n0').what, /quota exceeded; tried again in 1 s/);
    bench.ledger.refuse('n1', '', bench.now());
    assert.match(explained(bench, 'n1').what, /no reason was given; tried again/);
  });
});

describe('policyWarnings', () => {
  it('warns if minReadySeconds is shorter than the time in which a lost node is noticed', () => {
    assert.match(policyWarnings(policyWith({ minReadyMs: 5_000 }))[0] ?? '', /5 s.*50 s/);
    assert.deepEqual(policyWarnings(policyWith({ minReadyMs: DETECTION_LAG_MS })), []);
  });
});
