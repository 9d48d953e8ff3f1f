import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock, settle } from '../../test/support/index.ts';
import { createAir } from './air.ts';

const prepare = (most = 2) => {
  const clock = createTestClock();
  const begun: { key: string; signal: AbortSignal; end: () => void; fail: (error: Error) => void }[] = [];
  const seen: string[] = [];
  const air = createAir({
    clock,
    most,
    ended: () => void seen.push('ended'),
    failed: (key, error) => void seen.push(`${key}: ${(error as Error).message}`),
  });
  const launch = (key: string): void =>
    air.launch(key, (signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      begun.push({ key, signal, end: resolve, fail: reject });
      return promise;
    });
  return { clock, air, launch, begun, seen, keys: () => begun.map(({ key }) => key) };
};

describe('what is in the air', () => {
  it('is begun once for a key, and no more than so many at once', async () => {
    const { air, launch, begun, keys, seen } = prepare();
    for (const key of ['a', 'a', 'b', 'c']) launch(key);
    assert.deepEqual(keys(), ['a', 'b']);
    assert.ok(air.isFull() && air.has('a') && !air.has('c'));
    begun[0]?.end();
    await settle();
    assert.deepEqual(seen, ['ended']);
    launch('c');
    assert.deepEqual(keys(), ['a', 'b', 'c']);
  });

  it('ends also when it fails, which is told', async () => {
    const { air, launch, begun, seen } = prepare();
    launch('a');
    begun[0]?.fail(new Error('a defect'));
    await settle();
    assert.deepEqual(seen, ['a: a defect', 'ended']);
    assert.equal(air.has('a'), false);
  });

  it('is waited for so long on stopping, and called off then', async () => {
    const { clock, air, launch, begun } = prepare();
    launch('a');
    launch('b');
    let stopped = false;
    const stopping = air.stop(500).then(() => (stopped = true));
    begun[0]?.end();
    await clock.advance(499);
    assert.deepEqual([stopped, begun[1]?.signal.aborted], [false, false]);
    await clock.advance(1);
    assert.equal(begun[1]?.signal.aborted, true);
    begun[1]?.end();
    await stopping;
    launch('c');
    assert.equal(begun[2]?.signal.aborted, false, 'the next term is another');
  });
});
