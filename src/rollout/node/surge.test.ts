import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Step } from '../decision/action.ts';
import type { PodFacts } from '../facts/pod.ts';
import { restore, save } from '../fleet/persist.ts';
import { count } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { statusOf } from '../report/status.ts';
import { benchAt, createWorkbench, daemonSetName, type Workbench } from '../testing/workbench.ts';

const down = { ready: false, readyChangedAt: 0 };
const types = (bench: Workbench): Step['type'][] => bench.steps().map(({ type }) => type);
const surgeBench = (nodes: number, change: Partial<Policy> = {}): Workbench =>
  benchAt(nodes, { maxSurge: count(1), maxUnavailable: count(0), progressDeadlineMs: 60_000, ...change });
const change = (bench: Workbench, pod: PodFacts, facts: Partial<PodFacts>): void =>
  bench.ledger.setPod({ ...pod, resourceVersion: `${pod.resourceVersion}0`, ...facts }, bench.now());
const ready = (bench: Workbench) => ({ ready: true, readyChangedAt: bench.now() });
const retired = (bench: Workbench): string[] =>
  bench.steps().flatMap((action) => (action.type === 'delete-old' ? [action.pod.uid] : []));

describe('a surge', () => {
  it('creates the new pod beside the old one, which is deleted once the new one is available, all in one slot', () => {
    const bench = surgeBench(3, { minReadyMs: 5_000 });
    const [reserve] = bench.steps();
    assert.ok(reserve?.type === 'reserve');
    const { node } = reserve;
    const old = bench.last(node)!;
    assert.deepEqual(reserve, { type: 'reserve', node, pod: old, kind: 'surge' });
    bench.reserve(node, { kind: 'surge' });
    assert.deepEqual(bench.steps(), [{ type: 'surge', node }]);
    bench.start(node, 'b', down);
    assert.equal(bench.ledger.get(node)?.update?.state, 'done', 'the cache shows that it was carried out');
    assert.deepEqual([bench.phase(node), types(bench)], ['updating/surging', []]);
    assert.deepEqual([bench.ledger.tally.down, bench.ledger.tally.inFlight], [0, 1]);
    bench.change(node, ready(bench));
    assert.deepEqual(types(bench), []);
    bench.advance(4_999);
    assert.equal(bench.decide().wakeAt, bench.now() + 1);
    assert.deepEqual(retired(bench), []);
    bench.advance(1);
    assert.deepEqual([bench.phase(node), retired(bench)], ['updating/surging', [old.uid]]);
    change(bench, old, { terminating: true });
    assert.deepEqual([bench.phase(node), bench.nodesOf('reserve').length], ['updated/current', 1]);
  });

  it('includes nodes that are down, within the same number, and deletes their old pod as soon as the new one exists', () => {
    const bench = surgeBench(4);
    bench.change('n3', down);
    bench.removePod('n2');
    assert.deepEqual(bench.nodesOf('reserve'), ['n3'], 'one slot, whatever else is down');
    const old = bench.last('n3')!;
    bench.surge('n3');
    assert.deepEqual([bench.ledger.tally.down, retired(bench)], [2, [old.uid]]);
  });

  it('is a percentage of nodes, and freezes nothing while maxUnavailable is zero', () => {
    const bench = surgeBench(5, { maxSurge: { kind: 'percent', value: 30 }, percentOf: 'desired' });
    assert.equal(bench.nodesOf('reserve').length, 2);
    bench.policy({ maxSurge: count(0) });
    assert.equal(bench.decide().summary.hold?.kind, 'frozen');
  });

  it('whose new pod fails keeps the old one and its slot, and the next target deletes the new one first', () => {
    const bench = surgeBench(3);
    const old = bench.last('n0')!;
    const bad = bench.surge('n0', { trouble: 'crash-loop' });
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.down], ['failed/crash-loop', 0]);
    assert.deepEqual(types(bench), ['halt']);
    bench.target('c');
    assert.deepEqual([bench.phase('n0'), retired(bench)], ['updating/surging', [bad.uid]]);
    assert.equal(bench.ledger.get('n0')?.update?.kind, 'surge', 'until one pod is left');
    bench.removePod('n0');
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.inFlight], ['outdated/available', 0]);
    assert.equal(bench.ledger.get('n0')?.pods[0]?.facts.uid, old.uid);
  });

  it('is released when its old pod is of the target again', () => {
    const bench = surgeBench(2);
    const fresh = bench.surge('n0', { ready: true });
    bench.target('a');
    assert.deepEqual(retired(bench), [fresh.uid]);
    bench.removePod('n0');
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.inFlight], ['updated/current', 0]);
  });

  it('that takes too long is a failure of its revision, although the node is available', () => {
    const bench = surgeBench(2);
    bench.surge('n0');
    assert.equal(bench.decide().wakeAt, bench.now() + 60_000);
    bench.advance(60_000);
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.onlineFailures], ['failed/deadline', 1]);
  });

  it('is repeated when its new pod is deleted before the old one', () => {
    const bench = surgeBench(2);
    bench.surge('n0');
    bench.removePod('n0');
    assert.equal(bench.ledger.get('n0')?.update?.state, 'inherited');
    assert.deepEqual(bench.nodesOf('surge'), ['n0']);
    bench.policy({ paused: true });
    assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n0', fence: true }]);
  });

  it('waits for a new pod that terminates, and for one that is not shown yet beside an earlier pod that terminates', () => {
    for (const which of ['new', 'before'] as const) {
      const bench = surgeBench(1);
      const old = bench.last('n0')!;
      change(bench, old, down);
      if (which === 'new') {
        bench.surge('n0');
        bench.change('n0', { terminating: true });
      } else {
        bench.start('n0', 'a', { ...down, terminating: true });
        bench.ledger.reserve(
          'n0',
          {
            kind: 'surge',
            rollout: 2,
            at: bench.now(),
            state: 'done',
            podUid: old.uid,
            podName: '',
            podResourceVersion: '',
          },
          bench.now(),
        );
      }
      assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/surging', []], which);
    }
  });

  it('of another process is awaited until the deadline, then repeated', () => {
    const first = surgeBench(2);
    first.surge('n0');
    const saved = restore(structuredClone(save(first.ledger)));
    assert.equal(saved.updates.get('n0')?.kind, 'surge');
    const bench = surgeBench(2);
    bench.ledger.restore(saved.state, saved.updates, saved.forgiven, bench.now());
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/surging', []]);
    assert.equal(bench.decide().wakeAt, bench.now() + 60_000);
    bench.advance(60_000);
    assert.deepEqual(types(bench), ['reserve'], 'without the version that it was reserved on');
  });

  it('of another process whose new pod is missing is fenced, not completed, if the target has changed in the meantime', () => {
    const first = surgeBench(2);
    first.surge('n0');
    const saved = restore(structuredClone(save(first.ledger)));
    const bench = surgeBench(2);
    bench.ledger.restore(saved.state, saved.updates, saved.forgiven, bench.now());
    bench.target('c');
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.inFlight], ['updating/reserved', 1]);
    assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n0', fence: true }]);
    const { update, pods } = bench.ledger.get('n0')!;
    assert.equal(update?.podName, pods[0]?.facts.name, 'the fence names the old pod');
    bench.start('n0', 'b', down);
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.inFlight], ['updating/surging', 1]);
  });

  it('that was found without its new pod is still fenced by name when the same process leads again', () => {
    const bench = surgeBench(2);
    bench.surge('n0');
    const saved = restore(structuredClone(save(bench.ledger)));
    bench.ledger.restore(saved.state, saved.updates, saved.forgiven, bench.now());
    bench.removePod('n0');
    bench.ledger.restore(saved.state, saved.updates, saved.forgiven, bench.now());
    bench.target('c');
    const { update, pods } = bench.ledger.get('n0')!;
    assert.equal(update?.podName, pods[0]?.facts.name);
    assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n0', fence: true }]);
  });

  it('of another process is judged only after the initial sync', () => {
    const first = surgeBench(1);
    const old = first.last('n0')!;
    const fresh = first.surge('n0');
    const saved = restore(structuredClone(save(first.ledger)));
    const bench = createWorkbench({ maxSurge: count(1), maxUnavailable: count(0) });
    bench.node('n0');
    bench.ledger.restore(saved.state, saved.updates, saved.forgiven, bench.now());
    bench.target('c');
    bench.ledger.setPod(old, bench.now());
    assert.equal(bench.ledger.get('n0')?.update?.state, 'done');
    bench.ledger.setPod(fresh, bench.now());
    bench.ledger.finishInitialSync();
    assert.deepEqual(retired(bench), [fresh.uid]);
  });

  it('deletes no surged-out pod while the rollout is held, nor on a node that has just returned', () => {
    const bench = surgeBench(2);
    const old = bench.last('n0')!;
    bench.surge('n0', { ready: true });
    bench.policy({ paused: true });
    assert.deepEqual(types(bench), []);
    bench.policy({ paused: false });
    bench.offline('n0');
    bench.online('n0');
    assert.deepEqual(retired(bench), []);
    bench.advance(10_000);
    assert.deepEqual(retired(bench), [old.uid]);
  });

  it('holds a slot as long as there are two pods, even if the update is no longer known', () => {
    const bench = surgeBench(3);
    bench.start('n1', 'b', down);
    assert.equal(bench.ledger.get('n1')?.update, undefined);
    assert.deepEqual([bench.ledger.tally.inFlight, types(bench)], [1, []]);
  });

  it('does not start beside several pods, but does beside a terminating one', () => {
    const bench = surgeBench(1);
    const gone = bench.last('n0')!;
    bench.pod('n0', 'a');
    change(bench, gone, { terminating: true });
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
  });

  it('ends once one pod is left if the policy no longer surges, and is no failure until then', () => {
    const bench = surgeBench(1);
    const old = bench.last('n0')!;
    bench.surge('n0', { ready: true });
    bench.advance(3_600_000);
    bench.policy({ maxSurge: count(0), maxUnavailable: count(1) });
    change(bench, old, { terminating: true });
    assert.equal(bench.ledger.get('n0')?.update?.kind, 'surge');
    assert.deepEqual([bench.ledger.tally.onlineFailures, bench.ledger.tally.inFlight], [0, 1]);
    bench.ledger.removePod(old.uid, bench.now());
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.inFlight], ['updated/current', 0]);
  });

  it('is shown in the status, with its percentage', () => {
    const bench = surgeBench(2);
    const decision = bench.decide();
    const { ledger } = bench;
    const input = {
      ledger,
      decision,
      generation: 1,
      daemonSetGeneration: 1,
      policyHash: '',
      daemonSet: daemonSetName,
      previous: undefined,
      now: bench.now(),
    };
    assert.deepEqual(statusOf(input).budget, {
      maxUnavailable: '0',
      maxSurge: '1',
      nodes: 1,
      inUse: 0,
      inFlight: 0,
    });
  });
});
