import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../test/support/index.ts';
import { anySignal, createLogger, nextTurn, silentLogger, untilAborted } from '../runtime/index.ts';
import { type Elect, withoutElection } from './election.ts';
import { runControllers } from './run-controllers.ts';
import type { Controller } from './types.ts';

const startManager = (changes: { controller?: Partial<Controller>; elect?: Elect; settleWithinMs?: number } = {}) => {
  const story: string[] = [];
  const clock = createTestClock(0);
  const log = createLogger({ write: () => undefined, now: () => 0 });
  const controller: Controller = {
    async run(signal) {
      story.push('caches start');
      await untilAborted(signal);
      await nextTurn();
      story.push('caches end');
    },
    async lead(signal) {
      story.push('lead');
      await untilAborted(signal);
      story.push('settling');
      await nextTurn();
      story.push('settled');
    },
    synced: () => true,
    ...changes.controller,
  };
  const elect: Elect =
    changes.elect ??
    (async (lead, signal) => {
      story.push('acquire');
      await lead(signal);
      story.push('release');
    });
  const stop = new AbortController();
  const done = runControllers(
    {
      env: { clock, log },
      controllers: new Map([['fake', controller]]),
      elect,
      settleWithinMs: changes.settleWithinMs ?? 5_000,
    },
    stop.signal,
  );
  // Asserted on later; until then it must not count as unhandled.
  done.catch(() => undefined);
  return { story, clock, stop, done };
};

test('on stop writes settle, then the lease is released, then the caches stop', async () => {
  const { story, clock, stop, done } = startManager();
  await clock.advance(0);
  assert.deepEqual(story, ['caches start', 'acquire', 'lead']);
  stop.abort();
  await done;
  assert.deepEqual(story.slice(3), ['settling', 'settled', 'release', 'caches end']);
});

test('caches run from the start, and the election waits until they have synced', async () => {
  let filled = false;
  const { story, clock, stop, done } = startManager({ controller: { synced: () => filled } });
  await clock.advance(10_000);
  assert.deepEqual(story, ['caches start']);
  filled = true;
  await clock.advance(50);
  assert.deepEqual(story, ['caches start', 'acquire', 'lead']);
  stop.abort();
  await done;
});

test('after a minute the election no longer waits for the caches', async () => {
  const { story, clock, stop, done } = startManager({ controller: { synced: () => false } });
  await clock.advance(59_000);
  assert.deepEqual(story, ['caches start']);
  await clock.advance(1_100);
  assert.deepEqual(story, ['caches start', 'acquire', 'lead']);
  stop.abort();
  await done;
});

test('a stop before the caches have synced ends without an election', async () => {
  const { story, clock, stop, done } = startManager({ controller: { synced: () => false } });
  await clock.advance(1_000);
  stop.abort();
  await done;
  assert.deepEqual(story, ['caches start', 'caches end']);
});

test('a stop before the start ends at once', async () => {
  const stop = new AbortController();
  stop.abort();
  let led = false;
  const controller: Controller = {
    run: untilAborted,
    lead: async () => {
      led = true;
    },
    synced: () => true,
  };
  const env = { clock: createTestClock(0), log: silentLogger };
  const controllers = new Map([['fake', controller]]);
  await runControllers({ env, controllers, elect: withoutElection, settleWithinMs: 1 }, stop.signal);
  assert.equal(led, false);
});

/** An election whose first term ends by itself; the second one lasts until the stop. */
const twoTerms = (endFirst: AbortSignal, story: () => string[]): Elect => {
  return async (lead, signal) => {
    await lead(anySignal(signal, endFirst));
    story().push('first term over');
    await lead(signal);
  };
};

test('after a lost lease writes settle, and it leads again with warm caches', async () => {
  const lost = new AbortController();
  const { story, clock, stop, done } = startManager({ elect: twoTerms(lost.signal, () => story) });
  await clock.advance(0);
  lost.abort();
  await clock.advance(0);
  assert.deepEqual(story, ['caches start', 'lead', 'settling', 'settled', 'first term over', 'lead']);
  await clock.advance(60_000);
  stop.abort();
  await done;
  assert.deepEqual(story.slice(6), ['settling', 'settled', 'caches end']);
});

test('writes that do not settle after a lost lease end the process, and the lease is not released meanwhile', async () => {
  const lost = new AbortController();
  const { story, clock, done } = startManager({
    controller: { lead: () => new Promise(() => undefined) },
    elect: twoTerms(lost.signal, () => story),
    settleWithinMs: 5_000,
  });
  await clock.advance(0);
  lost.abort();
  await clock.advance(4_999);
  assert.deepEqual(story, ['caches start']);
  await clock.advance(1);
  await assert.rejects(done, { code: 'NotSettled' });
  assert.ok(!story.includes('first term over'));
});

test('a stop gives writes more time than a lost lease: no other process leads meanwhile', async () => {
  let settle: () => void = () => undefined;
  const acting = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const { story, clock, stop, done } = startManager({ controller: { lead: () => acting }, settleWithinMs: 5_000 });
  await clock.advance(0);
  stop.abort();
  await clock.advance(20_000);
  assert.deepEqual(story, ['caches start', 'acquire']);
  settle();
  await done;
  assert.deepEqual(story.slice(2), ['release', 'caches end']);
});

const ends: [string, Partial<Controller>][] = [
  ['the caches end by themselves', { run: async () => undefined }],
  ['the caches fail', { run: () => Promise.reject(new Error('no list')) }],
  ['leading ends by itself', { lead: async () => undefined }],
  ['leading fails', { lead: () => Promise.reject(new Error('no reservation')) }],
];
for (const [name, controller] of ends) {
  test(`when ${name}, everything stops in order and the error names the part`, async () => {
    const { story, clock, done } = startManager({ controller });
    await clock.advance(100);
    await assert.rejects(done, (error) => {
      assert.ok(error instanceof Error && 'code' in error);
      assert.equal(error.code, 'Ended');
      assert.match(error.message, /controller fake/);
      return true;
    });
    assert.equal(story.includes('acquire'), story.includes('release'));
  });
}

test('an election that fails is an error', async () => {
  const refused = new Error('no lease');
  const { done } = startManager({ elect: () => Promise.reject(refused) });
  await assert.rejects(done, { code: 'Ended', cause: refused });
});
