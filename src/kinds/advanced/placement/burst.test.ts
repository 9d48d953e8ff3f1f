import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodWrites, WriteOutcome } from '../../../controller/index.ts';
import { count, createLedger, type IntOrPercent, percent } from '../../../rollout/index.ts';
import { createVirtualClock, silentLogger } from '../../../runtime/index.ts';
import { toAdvancedView } from '../advanced-view.ts';
import { withinBurst } from './burst.ts';

const pod = { podName: 'app-1', podUid: 'u', podResourceVersion: '1' };
const done: WriteOutcome = { kind: 'done', pod: undefined };

/** The writes of a DaemonSet with five nodes, each in flight until it is ended. */
const createBench = (burst: IntOrPercent) => {
  const view = toAdvancedView({
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'DaemonSet',
    metadata: { name: 'app', namespace: 'default' },
    spec: { selector: { matchLabels: { a: 'b' } }, template: { spec: { containers: [] } } },
  });
  assert.ok(view);
  const clock = createVirtualClock(1_000_000);
  const ledger = createLedger(view.policy.policy);
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    ledger.setNode({ name, ready: true, readyChangedAt: 0, eligible: true, selected: true, zone: '' }, clock.now());
  const ends: (() => void)[] = [];
  const slow = (): Promise<WriteOutcome> => new Promise((resolve) => void ends.push(() => resolve(done)));
  const acts: PodWrites = { delete: slow, 'update-in-place': slow, fence: slow };
  const env = { clock, random: () => 0.5, log: silentLogger };
  return { clock, ends, acts: withinBurst({ env, view: () => ({ ...view, burst }), ledger }, acts) };
};

describe('burstReplicas', () => {
  it('limits deletions and in-place updates together; the others come later', async () => {
    const { acts, clock, ends } = createBench(percent(40));
    const { signal } = new AbortController();
    const first = acts.delete('a', pod, signal);
    const second = acts['update-in-place']?.('b', pod, signal);
    assert.deepEqual(await acts.delete('c', pod, signal), { kind: 'later', at: clock.now() + 250 });
    for (const end of ends.splice(0)) end();
    assert.deepEqual(await Promise.all([first, second]), [done, done]);
    const third = acts.delete('c', pod, signal);
    for (const end of ends.splice(0)) end();
    assert.deepEqual(await third, done);
  });

  it('does not delay fences, and is at least 1', async () => {
    const { acts, ends } = createBench(count(0));
    const { signal } = new AbortController();
    const all = [acts.delete('a', pod, signal), acts.fence('b', pod, signal)];
    for (const end of ends.splice(0)) end();
    assert.deepEqual(await Promise.all(all), [done, done]);
  });
});
