import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { phases } from '../../words/index.ts';
import { decide } from '../decision/decide.ts';
import { count, percent } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { contentOf, rebuild } from '../testing/rebuild.ts';
import { createWorkbench, imagesOf, runs, seed, type Workbench } from '../testing/workbench.ts';

type Step = (bench: Workbench) => void;
const names = Array.from({ length: 8 }, (_, index) => `n${index}`);
const anyNode = fc.constantFrom(...names);
const revision = fc.constantFrom('a', 'b', 'c');
const has = (bench: Workbench, name: string): boolean => (bench.ledger.get(name)?.pods.length ?? 0) > 0;
const onPod = (change: (bench: Workbench, name: string) => void): fc.Arbitrary<Step> =>
  anyNode.map((name) => (bench) => {
    const pods = bench.ledger.get(name)?.pods;
    if (pods?.some(({ facts }) => facts.uid === bench.last(name)?.uid)) change(bench, name);
  });

const steps: fc.Arbitrary<Step>[] = [
  fc.tuple(anyNode, revision, fc.boolean()).map(
    ([name, hash, ready]): Step =>
      (bench) => {
        if (!has(bench, name)) bench.start(name, hash, { ready });
      },
  ),
  fc.tuple(anyNode, revision).map(
    ([name, hash]): Step =>
      (bench) =>
        void bench.start(name, hash),
  ),
  onPod((bench, name) => bench.removePod(name)),
  onPod((bench, name) => void bench.change(name, { ready: false, readyChangedAt: bench.now() })),
  onPod((bench, name) => void bench.change(name, { ready: true, readyChangedAt: bench.now(), trouble: undefined })),
  onPod((bench, name) => void bench.change(name, { ready: false, trouble: 'crash-loop' })),
  onPod((bench, name) => void bench.change(name, { terminating: true })),
  onPod((bench, name) => bench.ledger.removePod(bench.ledger.get(name)?.pods[0]?.facts.uid ?? '', bench.now())),
  onPod((bench, name) => void bench.change(name, { preparingDelete: true })),
  onPod((bench, name) => void bench.change(name, { preparingDelete: false, hasInPlaceGate: true })),
  onPod((bench, name) => bench.finishInPlace(name)),
  ...(['requested', 'present', 'failed'] as const).map((state) =>
    onPod((bench, name) => void bench.change(name, imagesOf('b', state, { at: bench.now() }))),
  ),
  anyNode.map((name) => (bench) => bench.node(name)),
  anyNode.map((name) => (bench) => bench.ledger.removeNode(name, bench.now())),
  anyNode.map((name) => (bench) => bench.ledger.get(name)?.node && bench.offline(name)),
  anyNode.map((name) => (bench) => bench.ledger.get(name)?.node && bench.online(name)),
  fc.tuple(anyNode, fc.boolean(), fc.boolean(), fc.constantFrom('', 'x', 'y')).map(
    ([name, eligible, selected, zone]): Step =>
      (bench) =>
        bench.ledger.get(name)?.node && bench.node(name, { eligible, selected, zone }),
  ),
  onPod((bench, name) => bench.reserve(name)),
  onPod((bench, name) => bench.deletePod(name)),
  onPod((bench, name) => bench.reserve(name, { kind: 'in-place' })),
  onPod((bench, name) => bench.ledger.state.target && bench.updateInPlace(name)),
  onPod((bench, name) => bench.reserve(name, { kind: 'surge' })),
  onPod((bench, name) => bench.ledger.state.target && bench.surge(name)),
  onPod((bench, name) => bench.ledger.noteImageRequest(name, 'b', bench.now())),
  fc.tuple(anyNode, fc.constantFrom('sent', 'gone', 'confirmed')).map(
    ([name, event]): Step =>
      (bench) =>
        bench.ledger.noteEvent(name, event, bench.now()),
  ),
  anyNode.map((name) => (bench) => bench.ledger.noteEvent(name, 'released', bench.now())),
  anyNode.map((name) => (bench) => bench.ledger.refuse(name, 'no', bench.now())),
  fc.constant<Step>((bench) => void bench.ledger.forgive(bench.now())),
  revision.map((hash) => (bench) => bench.target(hash)),
  revision.map((hash) => (bench) => bench.target(hash, 'a', 'b', 'c')),
  fc.constantFrom(count(0), count(2)).map((maxSurge) => (bench) => bench.policy({ maxSurge })),
  fc.boolean().map((inPlace) => (bench) => bench.policy({ inPlace, progressDeadlineMs: 30_000 })),
  fc
    .constantFrom('off' as const, 'preferred' as const, 'required' as const, undefined)
    .map((predownload) => (bench) => bench.policy({ predownload })),
  fc.constantFrom(count(0), count(1), count(3), percent(50)).map((partition) => (bench) => bench.policy({ partition })),
  fc.constantFrom<Policy['strategy']>('auto', 'ota').map((strategy) => (bench) => bench.policy({ strategy })),
  fc.constantFrom(count(1), percent(10)).map((failureThreshold) => (bench) => bench.policy({ failureThreshold })),
  fc.constantFrom(0, 5_000).map((minReadyMs) => (bench) => bench.policy({ minReadyMs })),
  fc.constantFrom(1_000, 10_000, 60_000, 600_000, -600_000).map((ms) => (bench) => bench.advance(ms)),
];

describe('the incremental ledger', () => {
  it('equals one rebuilt from scratch, after any history', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(...steps), { minLength: 1, maxLength: 60 }), fc.boolean(), (history, first) => {
        const bench = createWorkbench({ maxUnavailable: count(2) });
        if (first) bench.target('a');
        bench.ledger.finishInitialSync();
        for (const name of names.slice(0, 5)) {
          bench.node(name);
          bench.pod(name, 'a');
        }
        for (const [index, step] of history.entries()) {
          step(bench);
          if (index % 5 !== 0 && index !== history.length - 1) continue;
          bench.advance(0);
          const now = bench.now();
          const fresh = rebuild(bench.ledger, now);
          assert.deepEqual(contentOf(bench.ledger), contentOf(fresh));
          assert.deepEqual(decide(bench.ledger, undefined, now), decide(fresh, undefined, now));
        }
      }),
      { numRuns: runs * 2, seed },
    );
  });

  it('indexes only what a new target or policy changes', () => {
    const bench = createWorkbench();
    bench.target('b');
    for (const name of ['n0', 'n1']) {
      bench.node(name);
      bench.pod(name, name === 'n0' ? 'a' : 'b');
    }
    bench.ledger.finishInitialSync();
    bench.advance(0);
    const statuses = () => ['n0', 'n1'].map((name) => bench.ledger.get(name)?.status);
    const before = statuses();
    bench.policy({ maxUnavailable: count(2) });
    assert.ok(statuses().every((status, index) => status === before[index]));
    bench.target('c');
    const [outdated, updated] = statuses();
    assert.equal(outdated, before[0]);
    assert.equal(updated?.phase, 'outdated');
  });

  it('assesses nodes again only for the settings that they go by', () => {
    const fleet = 100;
    const bench = createWorkbench();
    for (let index = 0; index < fleet; index += 1) bench.node(`node-${index}`);
    const { ledger } = bench;
    let reads = 0;
    const readsFor = (change: Partial<Policy>): number => {
      const next = { ...ledger.policy, ...change };
      const { settleMs } = next;
      const counted = Object.defineProperty(next, 'settleMs', {
        enumerable: true,
        get() {
          reads += 1;
          return settleMs;
        },
      });
      reads = 0;
      ledger.setPolicy(counted, bench.now());
      return reads;
    };
    assert.ok(readsFor({ minReadyMs: 1_000 }) >= fleet);
    const { changes } = ledger;
    assert.ok(readsFor({ maxUnavailable: count(7), partition: count(3), failureThreshold: count(5) }) < fleet / 2);
    assert.ok(ledger.changes > changes, 'another decision may follow');
    assert.deepEqual(ledger.policy.maxUnavailable, count(7));
    assert.ok(readsFor({ settleMs: 5_000 }) >= fleet);
  });

  it('keeps sums that equal a plain count over its records', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(...steps), { minLength: 1, maxLength: 60 }), (history) => {
        const bench = createWorkbench({ partition: count(2) });
        bench.target('a');
        bench.ledger.finishInitialSync();
        for (const step of history) step(bench);
        bench.advance(0);
        const { ledger } = bench;
        const eligible = [...ledger.records()].filter(({ node }) => node?.eligible);
        const { tally } = ledger;
        for (const phase of phases)
          assert.equal(tally.phases[phase], eligible.filter(({ status }) => status.phase === phase).length);
        assert.equal(tally.eligible, eligible.length);
        assert.equal(tally.online, eligible.filter(({ node }) => node?.ready).length);
        assert.equal(tally.inFlight, eligible.filter(({ status }) => status.inFlight).length);
        assert.equal(tally.occupied, eligible.filter(({ status }) => status.inFlight || status.down).length);
        // The partition allows as many nodes as it leaves, in descending order of names.
        const keep = ledger.policy.partition.kind === 'int' ? ledger.policy.partition.value : eligible.length >> 1;
        const waiting = eligible
          .filter(({ node, status }) => node?.selected && !status.committed)
          .map(({ name }) => name);
        const places = keep === 0 ? waiting.length : Math.max(0, eligible.length - keep - tally.committed);
        const expected = waiting.toSorted().slice(Math.max(0, waiting.length - places));
        const members = eligible.filter(({ name, partitionAllows }) => partitionAllows && waiting.includes(name));
        assert.deepEqual(members.map(({ name }) => name).toSorted(), places === 0 ? [] : expected);
      }),
      { numRuns: runs * 2, seed },
    );
  });
});
