import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { paint } from './color.ts';
import { canRedraw, fitting, printLines } from './terminal.ts';

describe('a terminal region', () => {
  const size = (columns: number, rows: number) => ({ columns, rows });

  it('cuts lines that would wrap, whatever their colors, and counts those that do not fit', () => {
    assert.deepEqual(fitting(['abcdef', 'b'], size(3, 2)), ['abc', 'b']);
    const red = paint('abcdef', 'bad');
    assert.deepEqual(fitting([`${red} ${paint('x', 'good')}`], size(8, 9)), [`${red} ${paint('x', 'good')}`]);
    assert.deepEqual(fitting([`${red}x`], size(3, 9)), [paint('abc', 'bad')]);
    assert.deepEqual(fitting(['a', 'b', 'c', 'd', 'e'], size(80, 3)), ['a', 'b', '(3 more lines)']);
  });

  it('is not used in logs or with NO_COLOR', () => {
    assert.equal(canRedraw({ TERM: 'xterm' }), true);
    for (const environment of [{ NO_COLOR: '1' }, { CI: 'true' }, { TERM: 'dumb' }])
      assert.equal(canRedraw(environment), false);
    assert.equal(canRedraw({ NO_COLOR: '' }), true);
  });
});

describe('a toned line', () => {
  it('is painted up to its mark, on each of the lines that it takes', () => {
    const printed: string[] = [];
    const print = (text: string): void => void printed.push(text);
    const head = 'The first sentence takes two of the lines.';
    const text = `${head} The second sentence is not painted.`;
    const screen = () => ({ columns: 32, rows: 9 });
    printLines([{ text, tone: 'bad', upTo: head.length }], { screen, paint, print });
    printLines([{ text: 'Painted: not painted', tone: 'bad', upTo: 7, depth: 2 }], { screen, paint, print });
    assert.equal(
      printed.join(''),
      `${paint('The first sentence takes two of', 'bad')}\n${paint('  the lines.', 'bad')} The second sentence\n  is not painted.\n${paint('    Painted', 'bad')}: not painted\n`,
    );
  });
});
