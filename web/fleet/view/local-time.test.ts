import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fullTime, localTime, withLocalTimes } from './local-time.ts';

/** A time of the viewer's own zone, whatever that is here. */
const at = (day: number, hour: number): number => new Date(2030, 0, day, hour, 30).getTime();

describe('a time of the cluster', () => {
  it('is shown by the clock of the viewer, with the day if that is another one', () => {
    assert.equal(localTime(at(1, 14), at(1, 9)), '14:30');
    assert.equal(localTime(at(2, 0), at(1, 23)), 'Jan 2, 00:30');
  });

  it('is shown so in a sentence as well', () => {
    const said = `soaks until ${new Date(at(1, 14)).toISOString()}, then ${new Date(at(2, 3)).toISOString()}`;
    assert.equal(withLocalTimes(said, at(1, 9)), 'soaks until 14:30, then Jan 2, 03:30');
    assert.equal(withLocalTimes('waits for 2030-01-01', at(1, 9)), 'waits for 2030-01-01');
  });

  it('has its day and its zone in a title', () => {
    assert.match(fullTime(new Date(at(1, 14)).toISOString()), /^Tuesday, January 1, 2030 at 2:30:00.PM \S+/);
    assert.equal(fullTime(undefined), '');
  });
});
