import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createTestClock, settle, type TestClock } from '../../../test/support/index.ts';
import { type LogFields, silentLogger, systemClock } from '../../runtime/index.ts';
import { KubeError } from '../client/errors.ts';
import { testEnv } from '../testing/index.ts';
import { createWorkQueue, type WorkQueueOptions } from './work-queue.ts';

/** A queue whose work ends when the test says so. */
const setUp = ({ clock = createTestClock(), ...options }: Partial<WorkQueueOptions> & { clock?: TestClock } = {}) => {
  const started: string[] = [];
  const open = new Map<string, { end: (outcome?: { requeueAt?: number }) => void; fail: (error: Error) => void }>();
  const queue = createWorkQueue({
    env: testEnv(clock),
    concurrency: 2,
    process: (key) =>
      new Promise((resolve, reject) => {
        assert.ok(!open.has(key), `${key} is processed twice at once`);
        started.push(key);
        const close =
          <A>(then: (argument: A) => void) =>
          (argument: A): void => {
            open.delete(key);
            then(argument);
          };
        open.set(key, { end: close(resolve), fail: close(reject) });
      }),
    ...options,
  });
  const stop = new AbortController();
  const end = async (key: string, outcome?: { requeueAt?: number }): Promise<void> => {
    open.get(key)?.end(outcome);
    await settle();
  };
  const fail = async (key: string, error = new Error('no')): Promise<void> => {
    open.get(key)?.fail(error);
    await settle();
  };
  return { clock, queue, started, open, stop, end, fail, take: () => started.splice(0) };
};

test('queues a key once, never processes it twice at once, and again when it was added meanwhile', async () => {
  const { queue, stop, end, take } = setUp();
  for (const key of ['a', 'a', 'b', 'c', 'b']) queue.add(key);
  assert.equal(queue.depth, 3);
  void queue.run(stop.signal);
  await settle();
  assert.deepEqual(take(), ['a', 'b']);
  queue.add('a');
  queue.add('a');
  await end('a');
  assert.deepEqual(take(), ['c'], 'the one that waited longer goes first');
  await end('c');
  assert.deepEqual(take(), ['a']);
  await end('a');
  assert.deepEqual(take(), []);
});

test('retries errors with back-off per key, which success resets; other keys do not wait', async () => {
  const { clock, queue, stop, end, fail, take } = setUp();
  void queue.run(stop.signal);
  queue.add('bad');
  await settle();
  // Three quarters of 200, 400, 800 ms.
  for (const wait of [150, 300, 600]) {
    assert.deepEqual(take(), ['bad']);
    await fail('bad');
    queue.add('good');
    await settle();
    assert.deepEqual(take(), ['good']);
    await end('good');
    await clock.advance(wait - 1);
    assert.deepEqual(take(), []);
    await clock.advance(1);
  }
  take();
  await end('bad');
  queue.add('bad');
  await settle();
  await fail('bad');
  take();
  await clock.advance(150);
  assert.deepEqual(take(), ['bad'], 'a success resets the delay');
  await fail('bad', new KubeError('TooManyRequests', 'busy', { retryAfterSeconds: 7 }));
  await clock.advance(6_999);
  assert.deepEqual(take(), []);
  await clock.advance(1);
  assert.deepEqual(take(), ['bad'], 'what the server asks for is the least');
  for (let round = 0; round < 10; round += 1) {
    await fail('bad', new KubeError('TooManyRequests', 'busy', { retryAfterSeconds: 1 }));
    await clock.advance(1_000);
    assert.deepEqual(take(), ['bad'], 'and the delay does not grow');
  }
});

test('a key that failed waits as long as the log says, whatever asks for it, and no longer once its cause has changed', async () => {
  const said: LogFields[] = [];
  const results: string[] = [];
  const clock = createTestClock();
  const { queue, stop, end, fail, take } = setUp({
    clock,
    env: { ...testEnv(clock), log: { ...silentLogger, warn: (_msg, fields = {}) => void said.push(fields) } },
    backoff: { baseMs: 1_000, maxMs: 4_000 },
    metrics: { worked: (_seconds, result) => void results.push(result) },
  });
  void queue.run(stop.signal);
  queue.add('bad');
  await settle();
  for (const failures of [1, 2, 3]) {
    assert.deepEqual(take(), ['bad']);
    // What asks for it while it is being processed does not come before the retry either.
    queue.add('bad');
    await fail('bad');
    const retryMs = Number(said.at(-1)?.['retryMs']);
    assert.equal(said.at(-1)?.['failures'], failures);
    for (const ask of [() => queue.add('bad'), () => queue.addAt('bad', clock.now() + 1)]) {
      ask();
      await clock.advance(1);
    }
    await clock.advance(retryMs - 3);
    assert.deepEqual(take(), [], `nothing within ${retryMs} ms`);
    await clock.advance(1);
  }
  assert.deepEqual(take(), ['bad']);
  await fail('bad');
  assert.deepEqual(results, ['error', 'error', 'error', 'error'], 'and no reconcile is counted that never ran');
  queue.retry('bad');
  await settle();
  assert.deepEqual(take(), ['bad']);
  await end('bad');
});

test('the earliest of several times of a key counts, and all keys share one timer', async () => {
  const { clock, queue, stop, end, take } = setUp();
  void queue.run(stop.signal);
  const now = clock.now();
  queue.addAt('a', now + 500);
  queue.addAt('a', now + 100);
  queue.addAt('a', now + 300);
  queue.addAt('b', now + 200);
  queue.addAt('past', now - 1);
  assert.equal(clock.pending, 1);
  await settle();
  assert.deepEqual(take(), ['past']);
  await end('past');
  await clock.advance(99);
  assert.deepEqual(take(), []);
  await clock.advance(1);
  assert.deepEqual(take(), ['a']);
  await end('a', { requeueAt: now + 150 });
  await clock.advance(50);
  assert.deepEqual(take(), ['a']);
  await end('a');
  await clock.advance(1000);
  assert.deepEqual(take(), ['b'], 'the later times of a are gone');
});

test('on stop, running work finishes, nothing new starts, and no timer is left', async () => {
  const { clock, queue, stop, end, take } = setUp();
  const done = queue.run(stop.signal);
  let ended = false;
  void done.finally(() => {
    ended = true;
  });
  for (const key of ['a', 'b', 'c']) queue.add(key);
  queue.addAt('d', clock.now() + 5);
  await settle();
  stop.abort(new Error('over'));
  await end('a');
  await settle();
  assert.equal(ended, false);
  await end('b');
  await done;
  assert.deepEqual(take(), ['a', 'b']);
  assert.equal(queue.depth, 1);
  assert.equal(clock.pending, 0);
});

test('reports depth, queue and work durations', async () => {
  const seen: string[] = [];
  const { clock, queue, stop, end, fail } = setUp({
    concurrency: 1,
    metrics: {
      depth: (keys) => void seen.push(`depth ${keys}`),
      waited: (seconds) => void seen.push(`waited ${seconds}`),
      worked: (seconds, result) => void seen.push(`${result} ${seconds}`),
      retried: () => void seen.push('retried'),
    },
  });
  void queue.run(stop.signal);
  queue.add('a');
  queue.add('b');
  await settle();
  await clock.advance(2_000);
  await end('a', { requeueAt: clock.now() + 99_999 });
  await fail('b');
  assert.deepEqual(seen, [
    'depth 1',
    'depth 2',
    'depth 1',
    'waited 0',
    'requeue_after 2',
    'depth 0',
    'waited 2',
    'retried',
    'error 0',
  ]);
});

test('no key starves when one key is re-added continuously', async () => {
  const { queue, stop, open, started } = setUp({ concurrency: 1 });
  void queue.run(stop.signal);
  queue.add('greedy');
  for (let at = 0; at < 20; at += 1) queue.add(`k${at}`);
  for (let turn = 0; turn < 42; turn += 1) {
    await settle();
    for (const { end } of open.values()) {
      queue.add('greedy');
      end();
    }
  }
  for (let at = 0; at < 20; at += 1) assert.ok(started.includes(`k${at}`));
});

test('loses no key and processes none twice at once, for any additions', async () => {
  const anyAction = fc.oneof(
    fc.record({ add: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ at: fc.constantFrom('a', 'b', 'c'), ms: fc.nat(500) }),
    fc.record({ end: fc.constantFrom('a', 'b', 'c'), fails: fc.boolean() }),
    fc.record({ wait: fc.nat(300) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(anyAction, { maxLength: 30 }), async (actions) => {
      const { clock, queue, stop, open, started } = setUp();
      const done = queue.run(stop.signal);
      const owed = new Set<string>();
      let startedSeen = 0;
      const account = (): void => {
        for (; startedSeen < started.length; startedSeen += 1) owed.delete(started[startedSeen] ?? '');
      };
      for (const action of actions) {
        if ('add' in action) {
          account();
          queue.add(action.add);
          owed.add(action.add);
        } else if ('at' in action) {
          account();
          queue.addAt(action.at, clock.now() + action.ms);
          owed.add(action.at);
        } else if ('end' in action) {
          if (action.fails) open.get(action.end)?.fail(new Error('no'));
          else open.get(action.end)?.end();
          await settle();
        } else await clock.advance(action.wait);
      }
      for (let turn = 0; turn < 20; turn += 1) {
        for (const { end } of open.values()) end();
        await clock.advance(70_000);
      }
      account();
      assert.deepEqual([...owed], []);
      stop.abort(new Error('over'));
      for (const { end } of open.values()) end();
      await done;
      assert.equal(clock.pending, 0);
    }),
    { numRuns: 60 },
  );
});

test('keys of a group that hangs leave workers to other groups, and come back to all after two seconds', async () => {
  const { clock, queue, stop, end, take } = setUp({ concurrency: 3, perGroup: 2 });
  for (const key of ['a/1', 'a/2', 'a/3', 'a/4', 'b/1', 'c/1', 'd/1']) queue.add(key);
  void queue.run(stop.signal);
  await settle();
  assert.deepEqual(take(), ['a/1', 'a/2', 'b/1'], 'two of a group');
  await end('b/1');
  assert.deepEqual(take(), ['c/1']);
  await clock.advance(2_000);
  assert.deepEqual(take(), ['d/1'], 'what hangs keeps no worker, and the rest of its group waits');
  await end('a/2');
  assert.deepEqual(take(), ['a/3']);
});

test('work that waits for nothing leaves turns to the rest of the process', async () => {
  let processed = 0;
  const { queue, stop } = setUp({
    env: testEnv(systemClock),
    async process() {
      const until = performance.now() + 5;
      while (performance.now() < until);
      processed += 1;
    },
  });
  for (let key = 0; key < 40; key += 1) queue.add(`k${key}`);
  void queue.run(stop.signal);
  await new Promise((resolve) => setTimeout(resolve, 0));
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.ok(processed > 0 && processed < 40, `${processed} of 40 were processed`);
});
