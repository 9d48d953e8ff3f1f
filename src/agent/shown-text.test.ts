import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownText } from './shown-text.ts';

test('a text of others is one line without what acts on the text around it', () => {
  const cases: [string | undefined, string | null][] = [
    [undefined, null],
    ['', null],
    [' \n\u200B\t', null],
    ['Bus 17', 'Bus 17'],
    [' a\r\nb\u2028c\td ', 'a b c d'],
    ['\u001B[3m\u0000 \u202Egnp', '[3m gnp'],
    ['دكان ١٧', 'دكان ١٧'],
    ['12345678', '12345678'],
    ['123456789', '1234567…'],
    ['123456\u{1F69A}789', '123456…'],
  ];
  for (const [written, shown] of cases) assert.equal(shownText(written, 8), shown, JSON.stringify(written));
});
