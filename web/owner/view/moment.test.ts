import assert from 'node:assert/strict';
import { test } from 'node:test';
import { de } from '../text/de.ts';
import { en } from '../text/en.ts';
import type { Text } from '../text/index.ts';
import { zh } from '../text/zh.ts';
import { createMoments } from './moment.ts';

const momentsIn = (text: Text) => createMoments(text, 'Europe/Berlin', Date.parse('2026-12-30T16:20:00Z'));
const say = (time: string, text: Text = en): string => momentsIn(text).say(Date.parse(time));

test("times are formatted for people, in the device's time zone", () => {
  assert.equal(say('2026-12-30T22:30:00Z'), 'today at 23:30');
  assert.equal(say('2026-12-30T23:30:00Z'), 'tomorrow at 00:30');
  assert.equal(say('2026-12-29T09:05:00Z'), 'yesterday at 10:05');
  assert.equal(say('2026-12-25T09:05:00Z'), 'Friday 25 December at 10:05');
  assert.match(say('2027-01-04T09:05:00Z'), /^Monday,? 4 January 2027 at 10:05$/);
});

test("times are formatted in the reader's language", () => {
  assert.equal(say('2026-12-30T23:30:00Z', de), 'morgen um 00:30 Uhr');
  assert.equal(say('2026-12-25T09:05:00Z', de), 'Freitag, 25. Dezember um 10:05 Uhr');
  assert.equal(say('2026-12-30T23:30:00Z', zh), '明天 00:30');
  assert.equal(say('2026-12-25T09:05:00Z', zh), '12月25日星期五 10:05');
});

test('weekdays are named and joined', () => {
  const days = (text: Text): string => momentsIn(text).weekdays(['mon', 'sat', 'sun']);
  assert.equal(days(en), 'Monday, Saturday and Sunday');
  assert.equal(days(de), 'Montag, Samstag und Sonntag');
  assert.equal(days(zh), '星期一、星期六和星期日');
});
