import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isLabelKey, isLabelValue, makeRequirement, type Operator, satisfies } from './requirement.ts';

const long = (length: number): string => 'a'.repeat(length);

describe('label keys and values', () => {
  const keys: [string, boolean][] = [
    ['zone', true],
    ['A.b_c-9', true],
    ['example.com/zone', true],
    [long(63), true],
    [`${long(253)}/${long(63)}`, true],
    ['', false],
    [long(64), false],
    [`${long(254)}/zone`, false],
    [`example.com/${long(64)}`, false],
    ['/zone', false],
    ['example.com/', false],
    ['a/b/c', false],
    ['Example.com/zone', false],
    ['example..com/zone', false],
    ['-example.com/zone', false],
    ['-zone', false],
    ['zone-', false],
    ['_zone', false],
    ['zöne', false],
    ['zo ne', false],
  ];
  for (const [key, valid] of keys)
    it(`${valid ? 'takes' : 'refuses'} key "${key.slice(0, 40)}" of ${key.length}`, () =>
      assert.equal(isLabelKey(key), valid));

  const values: [string, boolean][] = [
    ['', true],
    ['1', true],
    ['Berlin_2.a-b', true],
    [long(63), true],
    [long(64), false],
    ['-1', false],
    ['a/b', false],
    ['a ', false],
    ['a\n', false],
  ];
  for (const [value, valid] of values)
    it(`${valid ? 'takes' : 'refuses'} value ${JSON.stringify(value.slice(0, 40))} of ${value.length}`, () =>
      assert.equal(isLabelValue(value), valid));
});

describe('makeRequirement', () => {
  const cases: [Operator, string[], boolean][] = [
    ['In', ['a', 'b'], true],
    ['In', [''], true],
    ['In', [], false],
    ['NotIn', [], false],
    ['Exists', [], true],
    ['Exists', ['a'], false],
    ['DoesNotExist', ['a'], false],
    ['Gt', ['3'], true],
    ['Gt', ['3', '4'], false],
    ['Gt', [], false],
    ['Lt', ['three'], false],
    ['Lt', ['9223372036854775807'], true],
    ['Lt', ['9223372036854775808'], false],
    ['Gt', ['-3'], false],
    ['In', ['a b'], false],
  ];
  for (const [operator, values, ok] of cases)
    it(`${ok ? 'takes' : 'refuses'} ${operator} [${values.join()}]`, () =>
      assert.equal(makeRequirement('zone', operator, values).ok, ok));

  it('sorts values and drops duplicates', () => {
    const made = makeRequirement('zone', 'In', ['b', 'a', 'b']);
    assert.deepEqual(made.ok && made.requirement.values, ['a', 'b']);
  });
});

describe('satisfies', () => {
  const labels = { zone: 'north', empty: '', slots: '0010', huge: '9007199254740993', word: 'ten' };
  const cases: [string, Operator, string[], boolean][] = [
    ['zone', 'In', ['north', 'south'], true],
    ['zone', 'In', ['south'], false],
    ['absent', 'In', ['north'], false],
    ['absent', 'In', [''], false],
    ['empty', 'In', [''], true],
    ['zone', 'NotIn', ['north'], false],
    ['zone', 'NotIn', ['south'], true],
    ['absent', 'NotIn', ['north'], true],
    ['zone', 'Exists', [], true],
    ['empty', 'Exists', [], true],
    ['absent', 'Exists', [], false],
    ['zone', 'DoesNotExist', [], false],
    ['absent', 'DoesNotExist', [], true],
    ['slots', 'Gt', ['9'], true],
    ['slots', 'Gt', ['10'], false],
    ['slots', 'Lt', ['10'], false],
    ['slots', 'Lt', ['11'], true],
    ['huge', 'Gt', ['9007199254740992'], true],
    ['word', 'Gt', ['1'], false],
    ['word', 'Lt', ['1'], false],
    ['absent', 'Lt', ['1'], false],
    ['constructor', 'Exists', [], false],
    ['constructor', 'DoesNotExist', [], true],
    ['toString', 'NotIn', ['x'], true],
  ];
  for (const [key, operator, values, expected] of cases)
    it(`${key} ${operator} [${values.join()}] is ${expected}`, () =>
      assert.equal(satisfies(labels, { key, operator, values }), expected));
});
