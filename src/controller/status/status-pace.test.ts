import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock } from '../../../test/support/index.ts';
import { decide, type PodFacts, type Policy } from '../../rollout/index.ts';
import { createTestLedger, podFacts } from '../testing/fixtures.ts';
import { createStatusPace, type Progress, progressOf } from './status-pace.ts';

const statusOf = (status: number, now: number) => {
  const lastTransitionTime = new Date(now).toISOString();
  return { conditions: [{ type: 'Ready', status: 'True', reason: 'R', message: String(status), lastTransitionTime }] };
};

/** A pace whose status is a number, and a caller that asks again when it was told to. */
const prepare = () => {
  const clock = createTestClock();
  const pace = createStatusPace(clock);
  const wait = (progress: Progress, status: number): number =>
    Math.max(0, pace.dueAt(progress, statusOf(status, clock.now())) - clock.now());
  return {
    clock,
    pace,
    /** Milliseconds until the status is due. */
    wait,
    /** Waits until the status is due; resolves with how long that took. */
    write: async (progress: Progress, status: number): Promise<number> => {
      const startedAt = clock.now();
      for (let left = wait(progress, status); left > 0; left = wait(progress, status)) await clock.advance(left);
      pace.told(progress, 'informed');
      return clock.now() - startedAt;
    },
  };
};

describe('a status that informs', () => {
  it('is written at once after a rest, and once a second while things move', async () => {
    const { write, pace, clock } = prepare();
    assert.equal(await write('moving', 1), 0);
    assert.equal(await write('moving', 2), 1_000);
    assert.equal(pace.dueAt('moving') - clock.now(), 1_000, 'it is not even built before');
    await clock.advance(400);
    assert.equal(await write('moving', 3), 600);
  });

  it('is written at once when the end is reached', async () => {
    const { write, clock } = prepare();
    await write('moving', 1);
    await clock.advance(20);
    assert.equal(await write('reached', 2), 0);
  });

  it('is written at once when the end is reached again without a status in between', async () => {
    const { write, wait, pace, clock } = prepare();
    await write('reached', 1);
    await clock.advance(100);
    assert.ok(wait('moving', 2) > 0);
    pace.told('reached', 'unchanged');
    assert.equal(wait('reached', 3), 30, 'nothing has happened since the end was told');
    assert.ok(wait('moving', 3) > 0);
    assert.equal(await write('reached', 4), 0);
  });

  it('is written soon after a burst that ends elsewhere, and not while it continues', async () => {
    const { write, wait, clock } = prepare();
    await write('settled', 0);
    for (let status = 1; status < 8; status += 1) {
      assert.equal(wait('settled', status), 30);
      await clock.advance(20);
    }
    assert.equal(wait('settled', 7), 10);
    assert.equal(await write('settled', 7), 10);
  });

  it('is written once a second while a burst does not end', async () => {
    const { write, wait, clock } = prepare();
    await write('settled', 0);
    for (let waited = 0; waited < 990; waited += 15) {
      assert.ok(wait('settled', waited) > 0);
      await clock.advance(15);
    }
    assert.equal(wait('settled', 999), 10);
  });

  it('is written once a second after a few bursts in a row, and a few again after a rest', async () => {
    const { write, clock } = prepare();
    const writesIn = async (ms: number): Promise<number> => {
      let writes = 0;
      for (const end = clock.now() + ms; ; writes += 1) {
        await write('settled', writes);
        await write('reached', -writes);
        if (clock.now() >= end) return 2 * (writes + 1);
      }
    };
    const first = await writesIn(10_000);
    assert.ok(first > 10 && first <= 20, `${first}`);
    assert.ok((await writesIn(60_000)) <= 64);
    await clock.advance(10_000);
    assert.equal(await write('settled', 0), 0);
    assert.equal(await write('reached', 1), 0);
    assert.equal(await write('settled', 2), 30, 'what follows an end is another burst');
    assert.equal(await write('settled', 3), 60);
    assert.equal(await write('settled', 4), 120);
    assert.equal(await write('settled', 5), 120);
    assert.equal(await write('settled', 6), 670, 'that was enough');
    assert.equal(await write('reached', 7), 0, 'but an end is told');
  });

  it('does not wait for writes that reserve, nor longer after the clock was set back', async () => {
    const { write, wait, pace, clock } = prepare();
    for (let wave = 0; wave < 50; wave += 1) {
      pace.told('moving', 'reserved');
      await clock.advance(100);
    }
    assert.equal(wait('moving', 1), 900);
    assert.equal(await write('reached', 2), 0);
    for (let status = 0; status < 20; status += 1) await write(status % 2 === 0 ? 'settled' : 'reached', status);
    clock.jump(-600_000);
    assert.equal(await write('settled', 3), 0);
    await clock.advance(1_000);
    assert.equal(await write('reached', 4), 0);
  });
});

describe('the progress of a rollout', () => {
  const clock = createTestClock();
  const progress = (
    pods: Readonly<Record<string, Partial<PodFacts>>>,
    policy: Partial<Policy> = {},
    placing = false,
  ): Progress => {
    const ledger = createTestLedger(clock, Object.keys(pods));
    ledger.setTarget({ name: 'app-1', hash: 'h1', number: 1 }, clock.now());
    ledger.setTarget({ name: 'app-2', hash: 'h2', number: 2 }, clock.now());
    ledger.setPolicy({ ...ledger.policy, ...policy }, clock.now());
    for (const [node, change] of Object.entries(pods)) ledger.setPod(podFacts(node, 'h2', change), clock.now());
    ledger.tick(clock.now());
    const decision = decide(ledger, undefined, clock.now());
    const actions = decision.actions.filter(({ type }) => type !== 'complete');
    return progressOf(ledger, { ...decision, actions }, placing);
  };

  it('moves while the kind creates or deletes pods', () => {
    assert.equal(progress({ n1: {}, n2: {} }, {}, true), 'moving');
  });

  it('moves while nodes wait for an update or are updated', () => {
    assert.equal(progress({ n1: {}, n2: { revision: 'h1' } }), 'moving');
    assert.equal(progress({ n1: {}, n2: { terminating: true } }), 'moving');
  });

  it('has settled where a pod is not ready and the manager has nothing to do with it', () => {
    assert.equal(progress({ n1: {}, n2: { ready: false } }), 'settled');
    assert.equal(progress({ n1: {}, n2: { revision: 'h1' } }, { paused: true }), 'settled');
  });

  it('has reached its end where nothing is left to do', () => {
    assert.equal(progress({ n1: {}, n2: {} }), 'reached');
    assert.equal(progress({ n1: {}, n2: { revision: 'h1' } }, { strategy: 'manual' }), 'reached');
  });
});
