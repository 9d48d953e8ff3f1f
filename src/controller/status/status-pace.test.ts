import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock } from '../../../test/support/index.ts';
import { decide, type PodFacts, type Policy } from '../../rollout/index.ts';
import { createTestLedger, podFacts } from '../testing/fixtures.ts';
import { createStatusPace, isMoving } from './status-pace.ts';

type When = 'moving' | 'at rest';

const prepare = () => {
  const clock = createTestClock();
  const pace = createStatusPace(clock);
  /** Milliseconds until the status is due. */
  const wait = (when: When): number => Math.max(0, pace.dueAt(when === 'moving') - clock.now());
  return {
    clock,
    pace,
    wait,
    /** Waits until the status is due; resolves with how long that took. */
    write: async (when: When): Promise<number> => {
      const waited = wait(when);
      await clock.advance(waited);
      pace.written(when === 'moving');
      return waited;
    },
  };
};

describe('a status that informs', () => {
  it('is written at once after a rest, and once a second while things move', async () => {
    const { write, clock } = prepare();
    assert.equal(await write('moving'), 0);
    assert.equal(await write('moving'), 1_000);
    await clock.advance(400);
    assert.equal(await write('moving'), 600);
    await clock.advance(60_000);
    assert.equal(await write('moving'), 0);
  });

  it('is written at once when the end is reached', async () => {
    const { write, clock } = prepare();
    await write('moving');
    await clock.advance(20);
    assert.equal(await write('at rest'), 0);
  });

  it('is written at once when things begin to move, whatever was written before', async () => {
    const { write } = prepare();
    await write('at rest');
    assert.equal(await write('moving'), 0);
  });

  it('is written once a second after a few ends in a row, and a few again after a rest', async () => {
    const { write, clock } = prepare();
    const writesIn = async (ms: number): Promise<number> => {
      let writes = 0;
      for (const end = clock.now() + ms; clock.now() < end && writes < 100; writes += 1) await write('at rest');
      return writes;
    };
    const first = await writesIn(10_000);
    assert.ok(first > 10 && first <= 20, `${first}`);
    assert.ok((await writesIn(60_000)) <= 61);
    await clock.advance(10_000);
    assert.deepEqual([await write('at rest'), await write('at rest')], [0, 0]);
  });

  it('does not wait for writes that reserve, nor longer after the clock was set back', async () => {
    const { write, wait, pace, clock } = prepare();
    for (let wave = 0; wave < 50; wave += 1) {
      pace.current();
      await clock.advance(100);
    }
    assert.equal(wait('moving'), 900);
    assert.equal(await write('at rest'), 0);
    for (let count = 0; count < 20; count += 1) await write('at rest');
    clock.jump(-600_000);
    assert.ok(wait('moving') <= 1_000);
    assert.ok(wait('at rest') <= 1_000);
  });
});

it('a rollout moves until nothing of it is left to do', () => {
  const clock = createTestClock();
  const moves = (pods: Readonly<Record<string, Partial<PodFacts>>>, policy: Partial<Policy> = {}): boolean => {
    const ledger = createTestLedger(clock, Object.keys(pods));
    ledger.setTarget({ name: 'app-1', hash: 'h1', number: 1 }, clock.now());
    ledger.setTarget({ name: 'app-2', hash: 'h2', number: 2 }, clock.now());
    ledger.setPolicy({ ...ledger.policy, ...policy }, clock.now());
    for (const [node, change] of Object.entries(pods)) ledger.setPod(podFacts(node, 'h2', change), clock.now());
    ledger.tick(clock.now());
    const decision = decide(ledger, undefined, clock.now());
    return isMoving(ledger, { ...decision, actions: decision.actions.filter(({ type }) => type !== 'complete') });
  };
  assert.equal(moves({ n1: {}, n2: { revision: 'h1' } }), true);
  assert.equal(moves({ n1: {}, n2: { terminating: true } }), true);
  assert.equal(moves({ n1: {}, n2: { ready: false } }), true);
  assert.equal(moves({ n1: {}, n2: {} }), false);
  assert.equal(moves({ n1: {}, n2: { revision: 'h1' } }, { strategy: 'manual' }), false);
});
