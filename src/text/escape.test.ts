import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { escapeLine, escapeText, toLines, toMessage } from './escape.ts';

describe('a text of the cluster', () => {
  it('shows characters that act on a terminal as escapes', () => {
    assert.equal(escapeLine('a\u001b[2J\u009b31m\u0007\u007f'), String.raw`a\u001b[2J\u009b31m\u0007\u007f`);
    assert.equal(escapeLine('a\r\n\tb\u2028c\u0085\u202ed'), String.raw`a\r\n\tb\u2028c\u0085\u202ed`);
    assert.equal(escapeLine('grüße, 世界 👩‍🚀 عربى'), 'grüße, 世界 👩‍🚀 عربى');
  });

  it('keeps the newlines and tabs of the program', () => {
    assert.equal(escapeText('a\tb\nc\u001b\rd'), `a\tb\nc${String.raw`\u001b\rd`}`);
  });

  it('is one line in a list of lines', () => {
    assert.equal(toLines('one\ntwo', 'three'), `one${String.raw`\n`}two\nthree\n`);
    assert.equal(toLines(), '');
  });

  it('has indented lines in a message', () => {
    assert.equal(
      toMessage('edgeset: denied:\r\n\n- rule 1\u001b[0m \n- rule 2\n'),
      `edgeset: denied:\n  - rule 1${String.raw`\u001b`}[0m\n  - rule 2\n`,
    );
  });

  it('never acts on the terminal and never fakes a line', () => {
    const acts = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.doesNotMatch(escapeLine(text), acts);
        assert.equal(toLines(text).split('\n').length, 2);
        assert.doesNotMatch(toMessage(text), acts);
        assert.ok(
          toMessage(`x${text}`)
            .trimEnd()
            .split('\n')
            .slice(1)
            .every((line) => line.startsWith('  ')),
        );
      }),
    );
  });
});
