import assert from 'node:assert/strict';
import { it } from 'node:test';
import { plainText } from './plain-text.ts';

it('a plain text has no character that begins a line, acts on a terminal or reverses text', () => {
  const marks = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
  assert.equal(plainText(`a${marks}b${marks.split('').join('c')}`), `ab${'c'.repeat(marks.length - 1)}`);
  assert.equal(plainText('a\u0000\u0007\u001b[2J\r\n\tb\u0085\u2028\u2029\u009bc'), 'a [2J b c');
  // Scripts that are written from right to left, and joined emoji, stay as they are.
  assert.equal(plainText('\u05d0\u05d1 \u0627 👩\u200d🔧  é'), '\u05d0\u05d1 \u0627 👩\u200d🔧  é');
});
