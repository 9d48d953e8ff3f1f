import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { canRedraw, createRegion } from './terminal.ts';

const shown = (rows: number, columns: number, ...texts: string[]): string[] => {
  const written: string[] = [];
  const region = createRegion(
    (text) => written.push(text),
    () => ({ rows, columns }),
  );
  for (const text of texts) region.show(text);
  return written;
};

describe('a terminal region', () => {
  it('erases as many lines as it wrote', () => {
    assert.deepEqual(shown(24, 80, 'a\nb\n', 'c\n', 'd'), ['a\nb\n', '\u001B[2A\u001B[0Jc\n', '\u001B[1A\u001B[0Jd\n']);
  });

  it('cuts lines that would wrap, and counts those that do not fit', () => {
    assert.deepEqual(shown(4, 3, 'abcdef\nb\nc\nd\ne'), ['abc\nb\n(3 \n']);
    assert.deepEqual(shown(4, 80, 'a\nb\nc\nd\ne', 'f'), ['a\nb\n(3 more lines)\n', '\u001B[3A\u001B[0Jf\n']);
  });

  it('is not used in logs or with NO_COLOR', () => {
    assert.equal(canRedraw({ TERM: 'xterm' }), true);
    for (const environment of [{ NO_COLOR: '1' }, { CI: 'true' }, { TERM: 'dumb' }])
      assert.equal(canRedraw(environment), false);
    assert.equal(canRedraw({ NO_COLOR: '' }), true);
  });
});
