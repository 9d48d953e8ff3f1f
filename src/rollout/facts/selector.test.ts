import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts';
import { formatSelector, fromLabelSelector, matches, parseSelector, selectNothing } from './selector.ts';

const parse = (text: string) => {
  const parsed = parseSelector(text);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.problem);
  return parsed.selector;
};

describe('parseSelector', () => {
  // What it reads, and its canonical format.
  const valid: [string, string][] = [
    ['', ''],
    [' \t\n', ''],
    ['a=b', 'a=b'],
    ['a==b', 'a=b'],
    [' a = b ', 'a=b'],
    ['a!=b', 'a!=b'],
    ['a', 'a'],
    ['!a', '!a'],
    ['! a', '!a'],
    ['a in (x)', 'a=x'],
    ['a in (y, x,y)', 'a in (x,y)'],
    ['a in(x,y)', 'a in (x,y)'],
    ['a notin (x)', 'a!=x'],
    ['a notin (x,y)', 'a notin (x,y)'],
    ['a=', 'a='],
    ['a=,b', 'a=,b'],
    ['a in ()', 'a='],
    ['a in (,x)', 'a in (,x)'],
    ['a in (x,)', 'a in (,x)'],
    ['a in (x,,y)', 'a in (,x,y)'],
    ['a>1', 'a>1'],
    ['a < 10', 'a<10'],
    ['in', 'in'],
    ['in in (in, notin)', 'in in (in,notin)'],
    ['notin=in', 'notin=in'],
    ['c,b=1,!a', '!a,b=1,c'],
    ['a=b,a=b', 'a=b'],
    ['node-role.kubernetes.io/edge=,zone in (b,a)', 'node-role.kubernetes.io/edge=,zone in (a,b)'],
  ];
  for (const [text, canonical] of valid)
    it(`reads ${JSON.stringify(text)}`, () => assert.equal(formatSelector(parse(text)), canonical));

  const invalid: [string, RegExp][] = [
    ['a,', /has nothing where a label key belongs/],
    [',a', /has "," where a label key/],
    ['a,,b', /has "," where a label key/],
    ['=b', /has "=" where a label key/],
    ['a b', /has "b" where one of =, ==/],
    ['a=b c', /has "c" where "," belongs/],
    ['a=b=c', /has "=" where ","/],
    ['a===b', /has "=" where ","/],
    ['!a=b', /has "=" where ","/],
    ['!!a', /has "!" where a label key/],
    ['!', /has nothing where a label key/],
    ['a!', /has "!" where one of/],
    ['a in x', /has "x" where "\("/],
    ['a in', /has nothing where "\("/],
    ['a in (x', /has nothing where "," or "\)"/],
    ['a in (x y)', /has "y" where "," or "\)"/],
    ['a in (=)', /has "=" where "," or "\)"/],
    ['a in (x))', /has "\)" where ","/],
    ['a=(x)', /has "\(" where ","/],
    ['a>x', /compares "a" with "x"/],
    ['a>', /compares "a" with ""/],
    ['a/b/c=d', /has "a\/b\/c" where a label key/],
    ['a=b/c', /has "b\/c" where a value of label "a"/],
    [`a=${'x'.repeat(64)}`, /where a value of label "a"/],
    ['a=-x', /has "-x" where a value/],
    ['a constructor (x)', /has "constructor" where one of/],
    ['a=b\u00a0', /where a value of label "a"/],
  ];
  for (const [text, problem] of invalid)
    it(`refuses ${JSON.stringify(text)} and says how to fix it`, () => {
      const parsed = parseSelector(text);
      assert.ok(!parsed.ok);
      assert.match(parsed.problem, problem);
      assert.match(parsed.remedy, /^(write|use|give|leave) /);
    });

  it('terminates on any text', () => {
    const piece = fc.constantFrom('a', 'in', 'notin', '=', '==', '!=', '!', '(', ')', ',', ' ', '<', '>', 'b/c', '-');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((pieces) => pieces.join('')),
        ),
        (text) => {
          const parsed = parseSelector(text);
          if (parsed.ok) assert.deepEqual(parse(formatSelector(parsed.selector)), parsed.selector);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('fromLabelSelector', () => {
  it('matches everything when empty and nothing when absent', () => {
    for (const empty of [{}, { matchLabels: {} }, { matchExpressions: [] }])
      assert.deepEqual(fromLabelSelector(empty), { ok: true, selector: [] });
    assert.deepEqual(fromLabelSelector(undefined), { ok: true, selector: selectNothing });
    assert.equal(matches([], {}), true);
  });

  it('formats "nothing" so that it still matches nothing when parsed', () => {
    const again = parse(formatSelector(selectNothing));
    assert.deepEqual(again, selectNothing);
    for (const labels of [{}, { a: 'b' }, { 'edgeset.io/nothing': '' }]) assert.equal(matches(again, labels), false);
  });

  const invalid: [LabelSelector, RegExp][] = [
    [{ matchExpressions: [{ key: 'a', operator: 'in', values: ['b'] }] }, /has operator "in" for "a"/],
    [{ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] }, /has operator "Gt" for "a"/],
    [{ matchExpressions: [{ key: 'a', operator: 'In' }] }, /has 0 values for In of "a"/],
    [{ matchExpressions: [{ key: 'a', operator: 'NotIn', values: [] }] }, /has 0 values for NotIn/],
    [{ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] }, /has 1 values for Exists/],
    [{ matchExpressions: [{ key: '', operator: 'Exists' }] }, /has "" where a label key/],
    [{ matchLabels: { 'a b': 'c' } }, /has "a b" where a label key/],
    [{ matchLabels: { a: 'b c' } }, /has "b c" where a value/],
  ];
  for (const [source, problem] of invalid)
    it(`refuses ${JSON.stringify(source)}`, () => {
      const parsed = fromLabelSelector(source);
      assert.ok(!parsed.ok);
      assert.match(parsed.problem, problem);
    });
});

// Few keys and values, so that matches and misses are both common.
const key = fc.constantFrom('a', 'b', 'in', 'example.com/c', 'constructor');
const value = fc.constantFrom('', '1', 'x', 'notin');
const labelSet = fc.dictionary(key, value, { noNullPrototype: true });
const expression = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);
const labelSelector = fc.record(
  { matchLabels: labelSet, matchExpressions: fc.array(expression, { maxLength: 3 }) },
  { requiredKeys: [] },
);

/** The rules of the API's documentation. */
const holds = (source: LabelSelector, labels: Map<string, string>): boolean =>
  Object.entries(source.matchLabels ?? {}).every(([name, wanted]) => labels.get(name) === wanted) &&
  (source.matchExpressions ?? []).every(({ key: name, operator, values = [] }) => {
    const actual = labels.get(name);
    if (operator === 'Exists') return actual !== undefined;
    if (operator === 'DoesNotExist') return actual === undefined;
    const listed = actual !== undefined && values.includes(actual);
    return operator === 'In' ? listed : !listed;
  });

describe('a selector', () => {
  it('matches what the API says, and still does after being formatted and parsed', () => {
    let hits = 0;
    let misses = 0;
    fc.assert(
      fc.property(labelSelector, labelSet, (source, labels) => {
        const expected = holds(source, new Map(Object.entries(labels)));
        if (expected) hits++;
        else misses++;
        const made = fromLabelSelector(source);
        assert.ok(made.ok);
        assert.equal(matches(made.selector, labels), expected);
        const again = parse(formatSelector(made.selector));
        assert.deepEqual(again, made.selector);
        assert.equal(matches(again, labels), expected);
      }),
      { numRuns: 1000 },
    );
    assert.ok(hits > 50 && misses > 50, `one-sided sample: ${hits} hits, ${misses} misses`);
  });

  it('does not depend on the order of requirements', () => {
    fc.assert(
      fc.property(fc.array(expression, { maxLength: 5 }), (expressions) => {
        const there = fromLabelSelector({ matchExpressions: expressions });
        const back = fromLabelSelector({
          matchExpressions: expressions
            .map((one) => ('values' in one ? { ...one, values: one.values.toReversed() } : one))
            .toReversed(),
        });
        assert.deepEqual(there, back);
      }),
    );
  });
});
