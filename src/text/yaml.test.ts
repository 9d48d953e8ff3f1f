import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseYaml, YamlError } from './index.ts';

describe('parseYaml', () => {
  it('returns what the document says, null for an empty one', () => {
    assert.deepEqual(parseYaml('a: &x {b: 1, "2": [no, ~]}\nc: *x\n'), {
      a: { b: 1, 2: ['no', null] },
      c: { b: 1, 2: ['no', null] },
    });
    assert.equal(parseYaml(''), null);
    assert.deepEqual(parseYaml('{"token": "a"}'), { token: 'a' });
  });

  const refused: [string, string, number | undefined][] = [
    ['a list that does not end', 'a: 1\nb: [', 2],
    ['an indentation that fits nothing', 'a:\n  - b\n c', 3],
    ['a key twice', 'a: 1\nb:\n  c: 1\n  c: 2\n', 4],
    ['a key twice, once in quotes', '{a: 1, "a": 2}', 1],
    ['a second document', 'a: 1\n---\nb: 2\n', 2],
    ['lists deeper than the stack', '['.repeat(100_000), 1],
    [
      'aliases that multiply',
      ['a0: &a0 [x]', ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`)].join(
        '\n',
      ),
      undefined,
    ],
    ['an alias of nothing', 'a: *b', undefined],
  ];
  for (const [name, text, line] of refused)
    it(`refuses ${name}, and names the line but never its text`, () => {
      assert.throws(
        () => parseYaml(text),
        (error) => error instanceof YamlError && error.line === line && !/\*|\[/.test(error.message),
      );
    });
});
