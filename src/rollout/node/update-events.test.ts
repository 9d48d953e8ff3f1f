import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRecord } from './record.ts';
import { restoreUpdate, saveUpdate } from './reservation.ts';
import { isCarriedOut, mayHaveStarted, type NodeUpdate, pastUpdate, type UpdateState } from './update.ts';
import { inheritUpdate, type Learned, nextState, noteEvent, reserveUpdate, type UpdateEvent } from './update-events.ts';

const updateIn = (state: UpdateState, change: Partial<NodeUpdate> = {}): NodeUpdate => ({
  podUid: 'u1',
  podName: 'pod',
  podResourceVersion: '1',
  rollout: 2,
  at: 1_000,
  state,
  ...change,
});

const after = (update: NodeUpdate, event: UpdateEvent, learned?: Learned): NodeUpdate | undefined => {
  const record = { ...newRecord('n0'), update };
  noteEvent(record, event, learned);
  return record.update;
};

const states: UpdateState[] = ['reserved', 'inherited', 'sending', 'resending', 'unsure', 'unproven', 'done', 'past'];

/** For each event, what becomes of an update in each of the states above; `-`: it stays as it is. */
const life: Record<UpdateEvent, string> = {
  sent: 'sending resending - - resending - - -',
  confirmed: 'done done done done done done - -',
  unsent: '- - reserved unsure - - - -',
  lost: '- - unsure unsure - - - -',
  outdated: '- - reserved reserved - - - -',
  refused: '- - released unsure - - - -',
  gone: 'unsure unsure unsure unsure unsure - - -',
  released: 'released released - - released - - -',
  'taken-over': 'inherited - resending - - - - -',
  'recorded-as-done': '- - - - - done - -',
  shown: 'done done done done done - - -',
  vanished: 'unproven unproven unproven unproven unproven - - -',
  replaced: '- - - - - done - -',
  'came-back-old': '- - - - - older - -',
  missing: '- - - - - inherited inherited inherited',
  'new-pod-removed': '- - - - - past past past',
  completed: '- - - - - none none none',
  'no-longer-eligible': '- - - - - none none none',
  forgiven: '- - - - - older older older',
};

describe('the life of an update', () => {
  for (const [event, row] of Object.entries(life) as [UpdateEvent, string][])
    it(`${event}: ${row}`, () =>
      assert.equal(states.map((state) => nextState(updateIn(state), event) ?? '-').join(' '), row));

  it('frees the slot of a refused update only if nothing was sent, which no surge shows', () => {
    assert.equal(after(updateIn('sending'), 'refused'), undefined);
    for (const update of [updateIn('resending'), updateIn('sending', { kind: 'surge' })])
      assert.equal(after(update, 'refused')?.state, 'unsure');
    for (const state of states) assert.equal(mayHaveStarted(updateIn(state, { kind: 'surge' })), true);
  });

  it('leaves a released slot to the older update that it was to repair', () => {
    const record = { ...newRecord('n0'), update: updateIn('done', { kind: 'in-place', rollout: 1, saidAt: 900 }) };
    reserveUpdate(record, updateIn('reserved'));
    const past = { kind: 'in-place', podUid: 'u1', rollout: 1, at: 1_000, saidAt: 900 } as const;
    assert.deepEqual(record.update, updateIn('reserved', { repairs: past }));
    noteEvent(record, 'released');
    assert.deepEqual(record.update, pastUpdate(past));
  });

  it('keeps what an event tells, and forgets the other clock with the time that it gave', () => {
    const begun = after(updateIn('sending', { saidAt: 900 }), 'outdated', { begunAt: 2_000 });
    assert.deepEqual(begun, updateIn('reserved', { saidAt: 900, begunAt: 2_000 }));
    const missing = after(updateIn('done', { saidAt: 900 }), 'missing', { podName: 'old', at: 3_000 });
    assert.deepEqual(missing, updateIn('inherited', { podName: 'old', at: 3_000 }));
    assert.deepEqual(after(updateIn('unproven'), 'came-back-old'), pastUpdate({ rollout: 1, at: 1_000 }));
  });

  it('is recorded as carried out once that is proven, and continued from there', () => {
    for (const state of states) {
      const update = state === 'past' ? pastUpdate({ rollout: 2, at: 1_000 }) : updateIn(state);
      const saved = saveUpdate('n0', update);
      const proven = isCarriedOut(update) && state !== 'unproven';
      assert.equal(saved.carriedOut, proven);
      const expected = { done: 'done', past: 'past' }[state as string] ?? 'inherited';
      assert.equal(inheritUpdate(restoreUpdate(saved), undefined, 5_000).state, expected);
    }
  });
});
