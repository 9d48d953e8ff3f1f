import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diffTemplates, renderDifference } from './template-diff.ts';

const describeDiff = (from: unknown, to: unknown): string[] => diffTemplates(from, to).map(renderDifference);

describe('the differences between two templates', () => {
  const web = { name: 'web', image: 'web:2', args: ['-v', '--port', '80'] };
  const side = { name: 'side', image: 'side:1', env: [{ name: 'A', value: 'two words' }] };

  it('are empty for equal templates, whatever the order of fields, null or absent', () => {
    assert.deepEqual(describeDiff({ a: 1, b: [web] }, { b: [{ ...web, x: null }], a: 1 }), []);
  });

  it('name the field, and list items by name', () => {
    assert.deepEqual(
      describeDiff({ spec: { containers: [web] } }, { spec: { containers: [{ ...web, image: 'web:1' }] } }),
      ['spec.containers[web].image: web:2 -> web:1'],
    );
    assert.deepEqual(
      describeDiff({ containers: [web, side] }, { containers: [{ ...side, env: [{ name: 'A' }] }, web] }),
      ['containers[side].env[A].value: "two words" -> (not set)'],
    );
  });

  it('include an item that is on one side only', () => {
    assert.deepEqual(describeDiff({ containers: [web] }, { containers: [web, side] }), [
      `containers[side]: (not set) -> ${JSON.stringify(side)}`,
    ]);
  });

  it('number items that have no name', () => {
    assert.deepEqual(describeDiff({ args: ['-v', '80'] }, { args: ['-v', '81', ''] }), [
      'args[1]: "80" -> "81"',
      'args[2]: (not set) -> ""',
    ]);
  });

  it('quote keys with special characters', () => {
    assert.deepEqual(describeDiff({ annotations: { 'a.b/c': 'x' } }, { annotations: {} }), [
      'annotations["a.b/c"]: x -> (not set)',
    ]);
  });

  it('include values that change their type', () => {
    assert.deepEqual(describeDiff({ a: [1] }, { a: { b: 1 } }), ['a: [1] -> {"b":1}']);
    assert.deepEqual(describeDiff({ a: true }, { a: 'true' }), ['a: true -> "true"']);
  });
});
