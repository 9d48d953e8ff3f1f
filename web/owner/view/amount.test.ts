import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sayDuration, saySize } from './amount.ts';

test("durations are rounded to what matters, in the reader's language", () => {
  for (const [seconds, english, german, chinese] of [
    [1, '1 second', '1 Sekunde', '1秒钟'],
    [40, '40 seconds', '40 Sekunden', '40秒钟'],
    [140, '2 minutes', '2 Minuten', '2分钟'],
    [4_000, '67 minutes', '67 Minuten', '67分钟'],
    [10_900, '3 hours', '3 Stunden', '3小时'],
  ] as const)
    assert.deepEqual(
      ['en-GB', 'de', 'zh-Hans'].map((language) => sayDuration(seconds, language)),
      [english, german, chinese],
    );
});

test('sizes have as many digits as matter', () => {
  const sizes = (bytes: number): string[] =>
    ['en-GB', 'de', 'zh-Hans'].map((language) => saySize(bytes, language).replace('\u00a0', ' '));
  assert.deepEqual(sizes(47_900_000), ['48 MB', '48 MB', '48 MB']);
  assert.deepEqual(sizes(1_240_000_000), ['1.2 GB', '1,2 GB', '1.2 GB']);
  assert.deepEqual(sizes(2_340_000), ['2.3 MB', '2,3 MB', '2.3 MB']);
  assert.deepEqual(sizes(10), ['0.1 MB', '0,1 MB', '0.1 MB']);
});
