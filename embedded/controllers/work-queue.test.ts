import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createVirtualClock, silentLogger } from '../../src/runtime/index.ts';
import type { ApiServer } from '../types.ts';
import { createInformers } from './informers.ts';
import { createWorkQueue } from './work-queue.ts';

const never = (): never => {
  throw new Error('not called');
};
const quiet: ApiServer = {
  get: never,
  find: never,
  list: () => [],
  create: never,
  update: never,
  patch: never,
  delete: never,
  subscribe: () => () => undefined,
  resourceVersion: 0,
};

const setUp = (process: (key: string) => void, spacingMs = 0, clock = createVirtualClock(0, { fractionMs: 0 })) => {
  const informers = createInformers(quiet, clock);
  const env = { clock, random: () => 0, log: silentLogger };
  return {
    clock,
    informers,
    queue: createWorkQueue({ env, name: 'test', informers, process, spacingMs: () => spacingMs }),
  };
};

describe('queue', () => {
  it('processes a key once that was added twice', () => {
    const seen: string[] = [];
    const { clock, queue } = setUp((key) => seen.push(key));
    for (const key of ['a', 'b', 'a']) queue.add(key);
    clock.run(1);
    assert.deepEqual(seen, ['a', 'b']);
  });

  it('processes a key again that was added while being processed', () => {
    const seen: string[] = [];
    const { clock, queue } = setUp((key) => {
      seen.push(key);
      if (seen.length === 1) queue.add(key);
    });
    queue.add('a');
    clock.run(1);
    assert.deepEqual(seen, ['a', 'a']);
  });

  it('processes delayed additions of a key once, at the earliest time', () => {
    const at: number[] = [];
    const { clock, queue } = setUp(() => at.push(clock.now()));
    for (const delayMs of [30, 10, 20]) queue.addAfter('a', delayMs);
    clock.run(100);
    assert.deepEqual(at, [10]);
    queue.addAfter('a', 5);
    clock.run(100);
    assert.deepEqual(at, [10, 105]);
  });

  it('keeps the minimum spacing between syncs of a key, and loses no key', () => {
    const at: number[] = [];
    const { clock, queue } = setUp(() => at.push(clock.now()), 10);
    queue.add('a');
    clock.run(2);
    for (let index = 0; index < 5; index += 1) queue.add('a');
    clock.run(100);
    assert.deepEqual(at, [0, 10]);
    queue.add('a');
    clock.run(100);
    assert.deepEqual(at, [0, 10, 102]);
  });

  it('lets a key rest for twice the time of a slow sync, also one that was added during it', () => {
    const at: number[] = [];
    const virtual = createVirtualClock(0, { fractionMs: 0 });
    let spent = 0;
    const clock = { ...virtual, now: () => virtual.now() + spent };
    const { queue } = setUp(
      () => {
        at.push(clock.now());
        if (at.length === 1) queue.add('a');
        spent += 50;
      },
      10,
      clock,
    );
    queue.add('a');
    clock.run(1_000);
    assert.deepEqual(at, [0, 150]);
  });

  it('retries with exponential back-off until it succeeds', () => {
    const at: number[] = [];
    const { clock, queue } = setUp(() => {
      at.push(clock.now());
      if (at.length < 4) throw new Error('not yet');
    });
    queue.add('a');
    clock.run(1000);
    assert.deepEqual(at, [0, 5, 15, 35]);
  });

  it('processes nothing while paused, and everything after resuming', () => {
    const seen: string[] = [];
    const { clock, informers, queue } = setUp((key) => seen.push(key));
    informers.pause();
    queue.add('a');
    queue.add('b');
    clock.run(100);
    assert.deepEqual(seen, []);
    informers.resume();
    clock.run(1);
    assert.deepEqual(seen, ['a', 'b']);
  });

  it('delays each key when slowed down', () => {
    const at: number[] = [];
    const { clock, informers, queue } = setUp(() => at.push(clock.now()));
    informers.slow(50);
    for (const key of ['a', 'b']) queue.add(key);
    clock.run(1000);
    assert.deepEqual(at, [50, 100]);
  });
});
