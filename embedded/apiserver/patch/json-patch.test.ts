import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isKubeError } from '../../../src/kube/index.ts';
import { jsonPatch } from './json-patch.ts';

const document = { a: { 'x/y': 1, 'm~n': 2 }, list: ['one', 'two'] };
const patch = (...operations: object[]): unknown => jsonPatch(document, operations);

describe('JSON patches', () => {
  it('add, replace and remove', () => {
    assert.deepEqual(
      patch(
        { op: 'add', path: '/list/1', value: 'between' },
        { op: 'add', path: '/list/-', value: 'last' },
        { op: 'remove', path: '/list/0' },
        { op: 'replace', path: '/a/x~1y', value: 9 },
        { op: 'remove', path: '/a/m~0n' },
      ),
      { a: { 'x/y': 9 }, list: ['between', 'two', 'last'] },
    );
  });

  it('move and copy', () => {
    assert.deepEqual(
      patch({ op: 'copy', from: '/list', path: '/copied' }, { op: 'move', from: '/a/x~1y', path: '/moved' }),
      { a: { 'm~n': 2 }, list: ['one', 'two'], copied: ['one', 'two'], moved: 1 },
    );
  });

  it('stop if a test fails', () => {
    assert.deepEqual(patch({ op: 'test', path: '/list', value: ['one', 'two'] }), document);
    const failing = (): unknown => patch({ op: 'test', path: '/list/0', value: 'two' }, { op: 'remove', path: '/a' });
    assert.throws(failing, (error) => isKubeError(error, 'Invalid'));
  });

  it("reject paths that don't exist, and then change nothing", () => {
    const before = structuredClone(document);
    for (const operation of [
      { op: 'remove', path: '/none' },
      { op: 'add', path: '/none/deep', value: 1 },
      { op: 'add', path: '/list/9', value: 1 },
      { op: 'replace', path: '/list/9', value: 1 },
      { op: 'copy', from: '/none', path: '/x' },
      { op: 'nope', path: '/a' },
    ])
      assert.throws(
        () => patch({ op: 'remove', path: '/a/m~0n' }, operation),
        (error) => isKubeError(error, 'Invalid'),
      );
    assert.deepEqual(document, before);
  });
});
