import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diffTemplates, renderDifference } from './template-diff.ts';

const told = (from: unknown, to: unknown): string[] => diffTemplates(from, to).map(renderDifference);

describe('what two templates differ in', () => {
  const web = { name: 'web', image: 'web:2', args: ['-v', '--port', '80'] };
  const side = { name: 'side', image: 'side:1', env: [{ name: 'A', value: 'two words' }] };

  it('is nothing for the same, whatever the order of fields, and whether null or left out', () => {
    assert.deepEqual(told({ a: 1, b: [web] }, { b: [{ ...web, x: null }], a: 1 }), []);
  });

  it('names the field, and items of a list by their name', () => {
    assert.deepEqual(told({ spec: { containers: [web] } }, { spec: { containers: [{ ...web, image: 'web:1' }] } }), [
      'spec.containers[web].image: web:2 -> web:1',
    ]);
    assert.deepEqual(told({ containers: [web, side] }, { containers: [{ ...side, env: [{ name: 'A' }] }, web] }), [
      'containers[side].env[A].value: "two words" -> (not set)',
    ]);
  });

  it('tells of a whole item that is there on one side only', () => {
    assert.deepEqual(told({ containers: [web] }, { containers: [web, side] }), [
      `containers[side]: (not set) -> ${JSON.stringify(side)}`,
    ]);
  });

  it('counts items that have no name', () => {
    assert.deepEqual(told({ args: ['-v', '80'] }, { args: ['-v', '81', ''] }), [
      'args[1]: "80" -> "81"',
      'args[2]: (not set) -> ""',
    ]);
  });

  it('quotes keys that a path could not be read with', () => {
    assert.deepEqual(told({ annotations: { 'a.b/c': 'x' } }, { annotations: {} }), [
      'annotations["a.b/c"]: x -> (not set)',
    ]);
  });

  it('tells of values that change their kind', () => {
    assert.deepEqual(told({ a: [1] }, { a: { b: 1 } }), ['a: [1] -> {"b":1}']);
    assert.deepEqual(told({ a: true }, { a: 'true' }), ['a: true -> "true"']);
  });
});
