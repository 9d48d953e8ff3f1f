import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type NodeRecord, type NodeStatus, newRecord, notEligible } from '../node/record.ts';
import { type NodeUpdate, pastUpdate } from '../node/update.ts';
import { createIndexes } from './indexes.ts';

const status: NodeStatus = { ...notEligible, phase: 'outdated', cause: 'available' };
const update = (state: NodeUpdate['state']): NodeUpdate => ({ ...pastUpdate({ rollout: 1, at: 0 }), state });
const record = (change: Partial<NodeRecord> = {}): NodeRecord => ({ ...newRecord('n0'), status, ...change });

describe('what the indexes hold', () => {
  const cases: { what: string; before?: Partial<NodeRecord>; change: (record: NodeRecord) => void }[] = [
    { what: 'has an update', change: (each) => void (each.update = update('done')) },
    { what: 'has no update', before: { update: update('done') }, change: (each) => void (each.update = undefined) },
    {
      what: 'has an update that is now confirmed',
      before: { update: update('sending') },
      change: (each) => void (each.update = update('done')),
    },
    { what: 'is forgiven', change: (each) => void (each.forgiven = true) },
    { what: 'is no longer forgiven', before: { forgiven: true }, change: (each) => void (each.forgiven = false) },
  ];
  for (const { what, before, change } of cases)
    it(`is not a record that ${what}`, () => {
      const indexes = createIndexes();
      const known = record(before);
      indexes.add(known);
      assert.equal(indexes.holds(known, { ...status }), true);
      change(known);
      assert.equal(indexes.holds(known, { ...status }), false);
    });

  it('is not a record with another status', () => {
    const indexes = createIndexes();
    const known = record();
    indexes.add(known);
    assert.equal(indexes.holds(known, { ...status, dueAt: 1 }), false);
  });
});
