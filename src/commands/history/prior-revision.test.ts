import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonRolloutStatus } from '../../words/index.ts';
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
    status: undefined,
    rolledBackHash: undefined,
    ...kept,
  });

const completed = ({ name, hash }: { name: string; hash: string }) => ({ lastComplete: { revision: name, hash } });
type Past = NonNullable<DaemonRolloutStatus['history']>[number];
const rollout = ({ name, hash }: typeof one, result: Past['result'], haltedAt?: string): Past => ({
  rollout: 1,
  result,
  to: { revision: name, hash, number: Number(hash), images: [] },
  nodes: 0,
  failures: 0,
  ...(haltedAt !== undefined && { haltedAt }),
});

describe('the revision to roll back to', () => {
  it('is the last complete one while another is present', () => {
    assert.deepEqual(prior({ status: completed(one) }), { revision: one });
  });

  it('is the one before the present one where that is complete, or none was', () => {
    assert.deepEqual(prior({ status: completed(three) }), { revision: two });
    assert.deepEqual(prior({}), { revision: two });
  });

  it('is none where somebody must choose', () => {
    assert.deepEqual(prior({ status: completed({ name: 'web-0', hash: '0' }) }), { why: 'not-kept' });
    assert.deepEqual(prior({ revisions: [three] }), { why: 'none' });
    assert.deepEqual(prior({ rolledBackHash: '2' }), { why: 'failed', revision: two });
  });

  it('is never one whose last rollout was halted, even if it was resumed, unless it was complete in the end', () => {
    const at = '2030-01-01T00:00:00Z';
    const after = (...history: Past[]) => prior({ status: { ...completed(three), history } });
    const undone = rollout(two, 'Undone', at);
    assert.deepEqual(after(rollout(three, 'Complete'), undone), { why: 'failed', revision: two });
    assert.deepEqual(after(rollout(two, 'Complete', at), undone), { revision: two });
    assert.deepEqual(after(rollout(two, 'Superseded')), { revision: two });
    // It was complete, failed later, and is the last complete one until the one that replaces it is.
    assert.deepEqual(prior({ status: { ...completed(two), history: [undone] } }), { why: 'failed', revision: two });
    const resumed = { ...completed(three), history: [rollout(two, 'Complete', at)] };
    assert.deepEqual(prior({ status: resumed, rolledBackHash: '2' }), { revision: two });
  });
});
