import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pods } from '../../src/kube/index.ts';
import { createMemoryApi } from './api.ts';
import { createWorkingClock } from './working-clock.ts';

const PODS = 1_000;

it('delivers many copies at once in several turns, so that timers get theirs', async () => {
  const clock = createWorkingClock(0);
  const api = createMemoryApi({ clock, roundTripMs: 0, watchLagMs: 0, copies: true, onDelete: () => undefined });
  const stop = new AbortController();
  let received = 0;
  const watch = async (): Promise<void> => {
    for await (const { type } of api.client.watch(pods, { namespace: 'web', signal: stop.signal }))
      if (type === 'ADDED') received += 1;
  };
  const watched = watch().catch(() => undefined);
  let before: number | undefined;
  clock.timer(10, () => {
    for (let index = 0; index < PODS; index += 1)
      api.commit('ADDED', 'pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `web-${index}`, namespace: 'web', annotations: { long: 'x'.repeat(1_000) } },
      });
  });
  clock.timer(10, () => {
    before = received;
  });
  await clock.work(() => received === PODS, 1_000);
  assert.ok(before !== undefined && before < PODS, `a timer had its turn after ${before} events`);
  stop.abort();
  await watched;
});
