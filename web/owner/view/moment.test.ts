import assert from 'node:assert/strict';
import { test } from 'node:test';
import { en } from '../text/en.ts';
import { createMoments, sayTimes } from './moment.ts';

const moments = createMoments(en, 'Europe/Berlin', Date.parse('2026-12-30T16:20:00Z'));
const say = (time: string): string => moments.say(Date.parse(time));

test("times are formatted for people, in the device's time zone", () => {
  assert.equal(say('2026-12-30T22:30:00Z'), 'today at 23:30');
  assert.equal(say('2026-12-30T23:30:00Z'), 'tomorrow at 00:30');
  assert.equal(say('2026-12-29T09:05:00Z'), 'yesterday at 10:05');
  assert.equal(say('2026-12-25T09:05:00Z'), 'Friday 25 December at 10:05');
  assert.match(say('2027-01-04T09:05:00Z'), /^Monday,? 4 January 2027 at 10:05$/);
});

test("times in the agent's messages are formatted, too", () => {
  const sentence = 'Asked again at 2026-12-31T17:00:00Z; not ready since 2026-12-30T16:00:00.123Z.';
  assert.equal(sayTimes(sentence, moments), 'Asked again tomorrow at 18:00; not ready since today at 17:00.');
  assert.equal(sayTimes('Nothing to say.', moments), 'Nothing to say.');
});
