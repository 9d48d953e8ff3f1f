import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysFrom, instantOf, localTime, tomorrowAt, usableZone } from './zone.ts';

const iso = (at: number): string => new Date(at).toISOString();

test("tomorrow is the next day in the device's time zone", () => {
  const late = Date.parse('2026-11-21T23:30:00Z');
  assert.equal(iso(tomorrowAt(late, 18, 'UTC')), '2026-11-22T18:00:00.000Z');
  assert.equal(iso(tomorrowAt(late, 18, 'Asia/Tokyo')), '2026-11-23T09:00:00.000Z');
  assert.equal(iso(tomorrowAt(late, 18, 'America/Los_Angeles')), '2026-11-23T02:00:00.000Z');
});

test('tomorrow at 18:00 is at 18:00 across a clock change', () => {
  const beforeSummer = Date.parse('2026-03-28T17:00:00Z');
  assert.equal(iso(tomorrowAt(beforeSummer, 18, 'Europe/Berlin')), '2026-03-29T16:00:00.000Z');
  const beforeWinter = Date.parse('2026-10-24T16:00:00Z');
  assert.equal(iso(tomorrowAt(beforeWinter, 18, 'Europe/Berlin')), '2026-10-25T17:00:00.000Z');
  assert.equal(iso(tomorrowAt(Date.parse('2026-12-31T12:00:00Z'), 18, 'UTC')), '2027-01-01T18:00:00.000Z');
});

test('an instant is parsed and formatted in the same zone', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Chatham', 'America/St_Johns']) {
    const at = Date.parse('2026-07-04T05:45:00Z');
    assert.equal(iso(instantOf(localTime(at, zone), zone)), iso(at), zone);
  }
});

test("days are counted by midnights in the device's time zone", () => {
  const now = Date.parse('2026-11-21T22:30:00Z');
  assert.equal(daysFrom(now, Date.parse('2026-11-21T23:30:00Z'), 'UTC'), 0);
  assert.equal(daysFrom(now, Date.parse('2026-11-21T23:30:00Z'), 'Europe/Berlin'), 1);
  assert.equal(daysFrom(now, Date.parse('2026-11-20T23:30:00Z'), 'UTC'), -1);
});

test('an unknown time zone is treated as UTC', () => {
  assert.equal(usableZone('Europe/Berlin'), 'Europe/Berlin');
  assert.equal(usableZone('Mars/Olympus'), 'UTC');
});
