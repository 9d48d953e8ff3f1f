import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Kept, priorRevision } from './prior-revision.ts';

const [one, two, three] = ['1', '2', '3'].map((number) => ({ name: `web-${number}`, hash: number })) as [
  { name: string; hash: string },
  { name: string; hash: string },
  { name: string; hash: string },
];
const prior = (kept: Partial<Kept<typeof one>>) =>
  priorRevision({
    revisions: [one, two, three],
    present: three,
    lastComplete: undefined,
    rolledBackHash: undefined,
    ...kept,
  });

describe('the revision to roll back to', () => {
  it('is the last complete one while another is present', () => {
    assert.deepEqual(prior({ lastComplete: 'web-1' }), { revision: one });
  });

  it('is the one before the present one where that is complete, or none was', () => {
    assert.deepEqual(prior({ lastComplete: 'web-3' }), { revision: two });
    assert.deepEqual(prior({}), { revision: two });
  });

  it('is none where somebody must choose', () => {
    assert.deepEqual(prior({ lastComplete: 'web-0' }), { why: 'not-kept' });
    assert.deepEqual(prior({ revisions: [three] }), { why: 'none' });
    assert.deepEqual(prior({ rolledBackHash: '2' }), { why: 'rolled-back', revision: two });
  });
});
