import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import {
  type FinishedPods,
  formatFinished,
  latestOf,
  mayReplaceAt,
  parseFinished,
  recordFinished,
} from './failed-pod-backoff.ts';
import { type PlaceableNode, type PlacedPod, type Placement, type PlacementInput, place } from './place.ts';
import { slowStart } from './slow-start.ts';

const node = (name: string, more: Partial<PlaceableNode> = {}): PlaceableNode => ({
  name,
  online: true,
  shouldRun: true,
  shouldContinueRunning: true,
  ...more,
});
const pod = (onNode: string, more: Partial<PlacedPod> = {}): PlacedPod => ({
  name: `app-${onNode}`,
  uid: `u-${onNode}-${more.name ?? ''}`,
  node: onNode,
  bound: true,
  createdAt: 0,
  terminating: false,
  removing: false,
  finished: undefined,
  revision: 'new',
  ...more,
});
const ask = (
  nodes: readonly PlaceableNode[],
  pods: readonly PlacedPod[],
  more: Partial<PlacementInput> = {},
): Placement =>
  place({
    nodes,
    pods,
    revision: 'new',
    surging: new Set(),
    maxCreated: 250,
    maxRemoved: 250,
    maxLeaving: 1,
    maxUpdated: Infinity,
    finished: new Map(),
    now: 0,
    ...more,
  });
const created = (placement: Placement): string[] => placement.create.map(({ node: name }) => name);
const removed = (placement: Placement): string[] => placement.remove.map(({ pod: { name }, why }) => `${name} ${why}`);
const gone = { shouldRun: false, shouldContinueRunning: false };

describe('pods are created', () => {
  it('on every eligible node without one, online nodes first', () => {
    assert.deepEqual(created(ask([node('a', { online: false }), node('c'), node('b'), node('d', gone)], [pod('c')])), [
      'b',
      'a',
    ]);
  });

  it('not where one is terminating, nor where an existing one may only stay', () => {
    assert.deepEqual(created(ask([node('a'), node('b', { shouldRun: false })], [pod('a', { terminating: true })])), []);
  });

  it('next to a terminating one on a surging node', () => {
    const { create } = ask([node('a')], [pod('a', { terminating: true, uid: 'old' })], { surging: new Set(['a']) });
    assert.deepEqual(create, [{ node: 'a', replaces: 'old' }]);
  });

  it('within the burst and progressive creation', () => {
    const nodes = Array.from({ length: 10 }, (_, index) => node(`n${index}`));
    assert.equal(created(ask(nodes, [], { maxCreated: 4 })).length, 4);
    assert.equal(created(ask(nodes, [pod('n0'), pod('n1')], { maxUpdated: 3 })).length, 1);
    assert.equal(created(ask(nodes, [pod('n0'), pod('n1')], { maxUpdated: 1 })).length, 0);
    assert.equal(created(ask(nodes, [pod('n0', { revision: 'old' })], { maxUpdated: 3 })).length, 3);
  });

  it('at an older revision where a node is kept from the new one, whatever progressive creation allows', () => {
    const nodes = ['a', 'b', 'c'].map((name) => node(name));
    const held = new Map([
      ['a', 'old'],
      ['c', 'old'],
    ]);
    const older = [
      { node: 'a', replaces: undefined, revision: 'old' },
      { node: 'c', replaces: undefined, revision: 'old' },
    ];
    assert.deepEqual(ask(nodes, [], { held, maxUpdated: 0 }).create, older);
    assert.deepEqual(ask(nodes, [], { held, maxUpdated: 1 }).create, [
      older[0],
      { node: 'b', replaces: undefined },
      older[1],
    ]);
    assert.deepEqual(ask(nodes, [], { held, maxCreated: 1 }).create, [older[0]]);
  });
});

describe('pods are removed', () => {
  it('when their node is no longer eligible: online ones one by one, offline ones at once', () => {
    const nodes = [
      node('a', gone),
      node('b', gone),
      node('c', { ...gone, online: false }),
      node('d', { ...gone, online: false }),
    ];
    const pods = ['a', 'b', 'c', 'd'].map((name) => pod(name));
    assert.deepEqual(removed(ask(nodes, pods)), ['app-c not-eligible', 'app-d not-eligible', 'app-a not-eligible']);
    const leaving = pods.map((each) => (each.node === 'a' ? { ...each, terminating: true } : each));
    assert.deepEqual(removed(ask(nodes.slice(0, 2), leaving.slice(0, 2))), []);
    assert.deepEqual(removed(ask(nodes.slice(0, 2), leaving.slice(0, 2), { maxLeaving: 2 })), ['app-b not-eligible']);
  });

  it('one by one, started removals first, which count like terminating pods', () => {
    const nodes = ['a', 'b', 'c'].map((name) => node(name, gone));
    const pods = ['a', 'b', 'c'].map((name) => pod(name, { removing: name === 'b' }));
    assert.deepEqual(removed(ask(nodes, pods)), ['app-b not-eligible']);
    assert.deepEqual(removed(ask(nodes, pods, { maxLeaving: 2, maxRemoved: 0 })), ['app-b not-eligible']);
    assert.deepEqual(removed(ask(nodes, pods, { maxLeaving: 2 })), ['app-b not-eligible', 'app-a not-eligible']);
  });

  it('of several only the one whose removal has started', () => {
    const two = [pod('a', { name: 'old', removing: true }), pod('a', { name: 'young', createdAt: 9 })];
    assert.deepEqual(removed(ask([node('a')], two)), ['old duplicate']);
  });

  it('not where an existing one may stay', () => {
    assert.deepEqual(removed(ask([node('a', { shouldRun: false })], [pod('a')])), []);
  });

  it('when there are duplicates: the bound one stays, then the oldest', () => {
    const three = [
      pod('a', { name: 'young', createdAt: 9 }),
      pod('a', { name: 'unbound', bound: false, createdAt: 1 }),
      pod('a', { name: 'old', createdAt: 5 }),
    ];
    assert.deepEqual(removed(ask([node('a')], three)).toSorted(), ['unbound duplicate', 'young duplicate']);
  });

  it('on a surging node all but one of the new ones, and none of the old ones, which the rollout deletes', () => {
    const four = [
      pod('a', { name: 'n1' }),
      pod('a', { name: 'n2', createdAt: 2 }),
      pod('a', { name: 'o1', revision: 'old' }),
      pod('a', { name: 'o2', revision: 'older', createdAt: 2 }),
    ];
    assert.deepEqual(removed(ask([node('a')], four, { surging: new Set(['a']) })), ['n2 duplicate']);
    assert.deepEqual(removed(ask([node('a')], four.slice(2), { surging: new Set(['a']) })), []);
  });

  it('of a deleted node only if nobody else would', () => {
    assert.deepEqual(removed(ask([], [pod('x'), pod('y', { bound: false })])), ['app-y node-gone']);
  });

  it('when they have finished, with back-off', () => {
    const failed = pod('a', { finished: 'Failed' });
    assert.deepEqual(removed(ask([node('a')], [failed])), ['app-a failed']);
    assert.deepEqual(removed(ask([node('a')], [pod('a', { finished: 'Succeeded' })])), ['app-a succeeded']);
    const finished = new Map([['a', { times: 3, at: 1000, revision: 'new' }]]);
    const early = ask([node('a')], [failed], { finished, now: 4999 });
    assert.deepEqual([removed(early), early.wakeAt], [[], 5000]);
    assert.deepEqual(removed(ask([node('a')], [failed], { finished, now: 5000 })), ['app-a failed']);
    const other = pod('a', { finished: 'Failed', revision: 'old' });
    assert.deepEqual(removed(ask([node('a')], [other], { finished, now: 4999 })), ['app-a failed']);
  });
});

it('the back-off doubles from 1 s to 15 min, and is reset after half an hour without failures', () => {
  let finished: FinishedPods | undefined;
  const waits: number[] = [];
  let now = 0;
  for (let times = 0; times < 13; times += 1) {
    finished = recordFinished(finished, 'new', now);
    waits.push(mayReplaceAt(finished, 'new', now) - now);
    now = mayReplaceAt(finished, 'new', now);
  }
  assert.deepEqual(
    waits,
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900].map((seconds) => seconds * 1000),
  );
  const healthy = now + 31 * 60_000;
  assert.deepEqual(recordFinished(finished, 'new', healthy), { times: 1, at: healthy, revision: 'new' });
  assert.deepEqual(recordFinished(finished, 'other', now), { times: 1, at: now, revision: 'other' });
});

it('the back-off is read from the pod that carries it, only for its revision', () => {
  const finished: FinishedPods = { times: 5, at: 60_000, revision: 'new' };
  const text = formatFinished(finished, 'new');
  assert.equal(text, '5 1970-01-01T00:01:00Z');
  assert.equal(formatFinished(finished, 'other'), undefined);
  assert.deepEqual(parseFinished(text, 'new', 90_000), finished);
  assert.equal(parseFinished(text, 'new', 30_000)?.at, 30_000);
  for (const odd of [undefined, '', '5', 'x 1970-01-01T00:01:00Z', '5 soon', '9999999 1970-01-01T00:01:00Z'])
    assert.equal(parseFinished(odd, 'new', 90_000), undefined);
  const older = { ...finished, at: 1 };
  assert.deepEqual(
    [latestOf(older, finished), latestOf(finished, older), latestOf(undefined, older)],
    [finished, finished, older],
  );
});

it('placement converges to one pod on each eligible node', () => {
  const anyNode = fc.record({ online: fc.boolean(), shouldRun: fc.boolean(), keeps: fc.boolean() });
  const anyPod = fc.record({
    at: fc.nat(7),
    bound: fc.boolean(),
    createdAt: fc.nat(5),
    finished: fc.constantFrom<PlacedPod['finished']>(undefined, undefined, 'Failed', 'Succeeded'),
    revision: fc.constantFrom('old', 'new'),
  });
  fc.assert(
    fc.property(
      fc.array(anyNode, { minLength: 1, maxLength: 6 }),
      fc.array(anyPod, { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      (shapes, seeds, burst) => {
        const nodes = shapes.map(({ online, shouldRun, keeps }, index) =>
          node(`n${index}`, { online, shouldRun: shouldRun && keeps, shouldContinueRunning: keeps }),
        );
        let pods = seeds.map(({ at, ...seed }, index) => pod(`n${at}`, { ...seed, name: `p${index}` }));
        for (let pass = 0; pass < 40; pass += 1) {
          const { create, remove } = ask(nodes, pods, { maxCreated: burst, maxRemoved: burst });
          assert.ok(create.length <= burst && remove.length <= burst);
          if (create.length + remove.length === 0) break;
          pods = pods.filter((each) => !remove.some(({ pod: { name } }) => name === each.name));
          pods = [...pods, ...create.map(({ node: name }, index) => pod(name, { name: `c${pass}-${index}` }))];
        }
        const last = ask(nodes, pods, { maxCreated: burst, maxRemoved: burst });
        assert.deepEqual([last.create, last.remove], [[], []]);
        for (const { name, shouldRun, shouldContinueRunning } of nodes) {
          const count = pods.filter((each) => each.node === name).length;
          assert.ok(shouldRun ? count === 1 : shouldContinueRunning ? count <= 1 : count === 0);
        }
      },
    ),
  );
});

describe('a slow start', () => {
  it('doubles while all calls succeed', async () => {
    const batches: number[] = [];
    let inAir = 0;
    const outcome = await slowStart(
      Array.from({ length: 20 }),
      () => 0,
      async () => {
        inAir += 1;
        await Promise.resolve();
        if (inAir > 0) batches.push(inAir);
        inAir = 0;
      },
    );
    assert.deepEqual(outcome, { done: 20, errors: [] });
    assert.deepEqual(batches, [1, 2, 4, 8, 5]);
  });

  it('stops growing while calls are slow, and shrinks when they are very slow', async () => {
    const batches: number[] = [];
    const tookMs = [500, 500, 500, 2_000, 2_000, 5_000, 500, 500];
    let now = 0;
    let inAir = 0;
    await slowStart(
      Array.from({ length: 50 }),
      () => now,
      async () => {
        inAir += 1;
        await Promise.resolve();
        if (inAir === 0) return;
        batches.push(inAir);
        now += tookMs[batches.length - 1] ?? 0;
        inAir = 0;
      },
    );
    assert.deepEqual(batches, [1, 2, 4, 8, 8, 8, 4, 8, 7]);
  });

  it('ends with the batch that has a failure', async () => {
    let calls = 0;
    const refused = new Error('quota');
    const outcome = await slowStart(
      Array.from({ length: 100 }, (_, index) => index),
      () => 0,
      (index) => {
        calls += 1;
        return index === 4 ? Promise.reject(refused) : Promise.resolve();
      },
    );
    assert.deepEqual(outcome, { done: 7, errors: [refused] });
    assert.equal(calls, 7);
  });
});
