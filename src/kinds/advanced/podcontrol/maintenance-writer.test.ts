import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createTestClock } from '../../../../test/support/index.ts';
import type { WriteOutcome } from '../../../controller/index.ts';
import { podFacts } from '../../../controller/testing/index.ts';
import { silentLogger } from '../../../runtime/index.ts';
import type { CachedPod } from './cached-pod.ts';
import { createMaintenanceWriter } from './maintenance-writer.ts';

const cached = (resourceVersion: string): CachedPod => ({
  ownership: 'ours',
  facts: podFacts('n1', 'h1', { resourceVersion }),
  pod: {},
});

/** Writes to one pod with the given outcome. `mayWrite` tells whether a cached version may be written to. */
const writeOnce = async (on: string, outcome: WriteOutcome) => {
  const clock = createTestClock();
  const env = { clock, random: () => 0.5, log: silentLogger };
  const { promise: ended, resolve: enqueue } = Promise.withResolvers<void>();
  const ledger = { get: () => undefined, setPod: () => assert.fail('a pod that nobody knows is learned') };
  const writer = createMaintenanceWriter({ env, ledger, enqueue });
  writer.start(cached(on), () => Promise.resolve(outcome));
  await ended;
  return { mayWrite: (version: string): boolean => writer.nextWriteAt(cached(version)) <= clock.now(), clock };
};

it('a pod is not written to again before the cache shows the result of the write, whatever others wrote before it', async () => {
  const { mayWrite, clock } = await writeOnce('5', {
    kind: 'done',
    pod: podFacts('n1', 'h1', { resourceVersion: '9' }),
  });
  assert.deepEqual(
    ['5', '7', '8', '9', '12'].filter((version) => mayWrite(version)),
    ['9', '12'],
  );
  await clock.advance(15_000);
  assert.equal(mayWrite('5'), true, 'the wait for the cache is limited');
});

it('without a pod in the response, any other version is current', async () => {
  const { mayWrite } = await writeOnce('5', { kind: 'gone' });
  assert.deepEqual([mayWrite('5'), mayWrite('6')], [false, true]);
});
