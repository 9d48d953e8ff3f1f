import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tonightOf } from './tonight.ts';

const MINUTE = 60_000;
const night = { from: '02:00', to: '05:00' };

/** Whether Berlin's coming night is offered at 17:20 there with a deadline for this device at `due`, by Berlin's clock. */
const offered = (due: string | undefined, now = '2026-11-21T17:20') => {
  const at = (text: string): number => Date.parse(`${text}:00+01:00`);
  const deadline = due === undefined ? undefined : { at: at(due) - 30 * MINUTE, spreadMs: 60 * MINUTE, share: 0.5 };
  return tonightOf({ now: at(now), timeZone: 'Europe/Berlin', deadline });
};

describe('the coming night', () => {
  it('is offered without a deadline, and with one that comes later', () => {
    assert.deepEqual(offered(undefined), night);
    for (const due of ['2026-11-22T02:00', '2026-11-22T03:00', '2026-12-24T12:00'])
      assert.deepEqual(offered(due), night, due);
  });

  it('is not offered once the deadline of this device comes before it, or has passed', () => {
    for (const due of ['2026-11-22T01:59', '2026-11-21T18:30', '2026-11-21T09:00'])
      assert.equal(offered(due), null, due);
  });

  it('has begun at three in the morning, so that only what is due by now comes before it', () => {
    assert.deepEqual(offered('2026-11-22T03:30', '2026-11-22T03:00'), night);
    assert.equal(offered('2026-11-22T02:30', '2026-11-22T03:00'), null);
  });
});
