import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger, errorText } from './log.ts';

const lineOf = (format: 'json' | 'text', fields: Record<string, unknown>): string => {
  const lines: string[] = [];
  createLogger({ write: (line) => lines.push(line), now: () => 0, format }).warn('refused', fields);
  assert.equal(lines.length, 1);
  return lines[0] ?? '';
};

describe('log lines', () => {
  it('are one line each, whatever text they contain', () => {
    const error = new Error('denied\n00:00:00.000 info  approved \u001b[31mby root\u009b2J \u202etxt');
    const said = 'denied\\u{000a}00:00:00.000 info  approved \\u{001b}[31mby root\\u{009b}2J \\u{202e}txt';
    assert.equal(lineOf('text', { error, uid: 4711 }), `00:00:00.000 warn  refused error=${said} uid=4711`);
    assert.deepEqual(JSON.parse(lineOf('json', { error })), {
      ts: '1970-01-01T00:00:00.000Z',
      level: 'warn',
      msg: 'refused',
      error: error.message,
    });
    assert.ok(!lineOf('json', { error }).includes('\n'));
  });
  it('keep harmless text unchanged', () => {
    assert.equal(
      lineOf('text', { path: '/a b', list: [1], none: undefined }),
      '00:00:00.000 warn  refused path=/a b list=[1] none=undefined',
    );
  });
});

it('the text of an error is its message, and of another value its text', () => {
  assert.equal(errorText(new Error('no route')), 'no route');
  assert.equal(errorText('refused'), 'refused');
  assert.equal(errorText(undefined), 'undefined');
});
