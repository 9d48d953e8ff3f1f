import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock, settle } from '../../../test/support/index.ts';
import { createInFlightWrites, type WriteResult } from './in-flight-writes.ts';

const prepare = (limit = 2) => {
  const clock = createTestClock();
  const begun: {
    key: string;
    signal: AbortSignal;
    end: (result: WriteResult) => void;
    fail: (error: Error) => void;
  }[] = [];
  const seen: string[] = [];
  const writes = createInFlightWrites({
    clock,
    limit,
    backoff: { baseMs: 1_000, maxMs: 4_000 },
    onWriteDone: () => void seen.push('settled'),
    failed: (key, error) => void seen.push(`${key}: ${(error as Error).message}`),
  });
  const start = (key: string): number =>
    writes.start(key, (signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<WriteResult>();
      begun.push({ key, signal, end: resolve, fail: reject });
      return promise;
    });
  return { clock, writes, start, begun, seen, keys: () => begun.map(({ key }) => key) };
};

describe('a write in flight', () => {
  it('is the only one for its key, and one of a limited number', async () => {
    const { writes, start, begun, keys, seen } = prepare();
    for (const key of ['a', 'a', 'b', 'c']) start(key);
    assert.deepEqual(keys(), ['a', 'b']);
    assert.ok(writes.isFull() && writes.has('a') && !writes.has('c'));
    begun[0]?.end('succeeded');
    await settle();
    assert.deepEqual(seen, ['settled']);
    start('c');
    assert.deepEqual(keys(), ['a', 'b', 'c']);
  });

  it('ends also when it rejects, which is reported, and backs off', async () => {
    const { clock, writes, start, begun, seen } = prepare();
    start('a');
    begun[0]?.fail(new Error('a defect'));
    await settle();
    assert.deepEqual(seen, ['a: a defect', 'settled']);
    assert.equal(writes.has('a'), false);
    assert.equal(start('a'), clock.now() + 1_000);
    assert.equal(begun.length, 1);
  });

  it('backs off after a failure, and says when to try again; an unchanged result keeps the delay', async () => {
    const { clock, writes, start, begun, keys } = prepare();
    const fail = async (result: WriteResult): Promise<number> => {
      assert.equal(start('a'), Number.POSITIVE_INFINITY, 'its end comes first');
      begun.at(-1)?.end(result);
      await settle();
      return writes.nextAttemptAt('a') - clock.now();
    };
    assert.equal(await fail('failed'), 1_000);
    assert.equal(start('a'), clock.now() + 1_000);
    assert.equal(start('b'), Number.POSITIVE_INFINITY, 'another key does not wait');
    await clock.advance(1_000);
    assert.ok((await fail('unchanged')) <= 0);
    assert.equal(await fail('failed'), 2_000);
    await clock.advance(2_000);
    assert.ok((await fail('succeeded')) <= 0);
    assert.equal(await fail('failed'), 1_000);
    writes.forget('a');
    start('a');
    assert.deepEqual(keys(), ['a', 'b', 'a', 'a', 'a', 'a', 'a']);
  });

  it('gets some time on drain, and is aborted then', async () => {
    const { clock, writes, start, begun } = prepare();
    start('a');
    start('b');
    let drained = false;
    const draining = writes.drain(500).then(() => (drained = true));
    begun[0]?.end('succeeded');
    await clock.advance(499);
    assert.deepEqual([drained, begun[1]?.signal.aborted], [false, false]);
    await clock.advance(1);
    assert.equal(begun[1]?.signal.aborted, true);
    begun[1]?.end('succeeded');
    await draining;
    start('c');
    assert.equal(begun[2]?.signal.aborted, false, 'the next term has its own signal');
  });
});
