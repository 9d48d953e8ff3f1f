import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { columnsOf, cutTo, wrap } from './columns.ts';

describe('the columns of a text', () => {
  it('are two for East Asian characters and emoji, and none for marks', () => {
    for (const [text, columns] of [
      ['web:1.5', 7],
      ['更新', 4],
      ['ﾊﾝ', 2],
      ['한글 1', 6],
      ['🚀!', 3],
      ['e\u0301✓', 2],
      ['', 0],
    ] as const)
      assert.equal(columnsOf(text), columns, text);
  });

  it('decide where a text is cut and broken', () => {
    assert.deepEqual([cutTo('更新済み', 5), cutTo('abc', 5), cutTo('e\u0301a', 1)], ['更新', 'abc', 'e\u0301']);
    assert.deepEqual(wrap('更新 更新 ab', 7), ['更新', '更新 ab']);
    assert.deepEqual(wrap('', 7), ['']);
  });

  it('leave a command in one piece, so that it can be copied, if the line has room for it', () => {
    const text = 'It is paused. Run "kubectl edgeset resume ds/web -n shop". Then look at "the Events of it".';
    assert.deepEqual(wrap(text, 48), [
      'It is paused. Run',
      '"kubectl edgeset resume ds/web -n shop". Then',
      'look at "the Events of it".',
    ]);
    assert.equal(wrap(text, 30)[0], 'It is paused. Run "kubectl');
  });
});
