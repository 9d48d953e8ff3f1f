import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definitionShape } from '../schema/definitions.ts';
import { strategicPatch } from './strategic-merge.ts';

const shape = definitionShape('core.v1.Pod');
const patched = (spec: object, patch: object): unknown => {
  const { spec: result } = strategicPatch({ spec }, { spec: patch }, shape) as { spec: unknown };
  return result;
};

const app = { name: 'app', image: 'app:v1' };
const side = { name: 'side', image: 'side:v1' };

describe('strategic merge patches', () => {
  it('merge lists by the merge key of the type', () => {
    assert.deepEqual(patched({ containers: [app, side] }, { containers: [{ name: 'side', image: 'side:v2' }] }), {
      containers: [app, { name: 'side', image: 'side:v2' }],
    });
  });

  it('put what is new before what they do not name, and delete what is told to go', () => {
    const patch = {
      containers: [
        { name: 'new', image: 'new:v1' },
        { name: 'app', $patch: 'delete' },
      ],
    };
    assert.deepEqual(patched({ containers: [app, side] }, patch), {
      containers: [{ name: 'new', image: 'new:v1' }, side],
    });
  });

  it('replace a list or an object as a whole where that is said', () => {
    assert.deepEqual(patched({ containers: [app, side] }, { containers: [{ $patch: 'replace' }, side] }), {
      containers: [side],
    });
    const context = { runAsUser: 1, runAsGroup: 2 };
    assert.deepEqual(patched({ securityContext: context }, { securityContext: { $patch: 'replace', runAsUser: 3 } }), {
      securityContext: { runAsUser: 3 },
    });
  });

  it('replace lists that the type does not merge', () => {
    assert.deepEqual(patched({ tolerations: [{ key: 'a' }] }, { tolerations: [{ key: 'b' }] }), {
      tolerations: [{ key: 'b' }],
    });
  });

  it('put merged items into the order that is asked for, keeping the others in their place', () => {
    const present = { containers: [{ name: 'a' }, { name: 'server' }, { name: 'b' }] };
    const patch = {
      '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
      containers: [{ name: 'b', image: 'x' }],
    };
    assert.deepEqual(patched(present, patch), {
      containers: [{ name: 'server' }, { name: 'b', image: 'x' }, { name: 'a' }],
    });
  });

  it('keep of an object only the keys that are to be retained', () => {
    const present = { volumes: [{ name: 'v', emptyDir: {} }] };
    const patch = { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] };
    assert.deepEqual(patched(present, patch), { volumes: [{ name: 'v', hostPath: { path: '/x' } }] });
  });

  it('merge lists of texts as sets, and take texts out of them', () => {
    const result = strategicPatch(
      { metadata: { finalizers: ['a', 'b'] } },
      { metadata: { finalizers: ['b', 'c'], '$deleteFromPrimitiveList/finalizers': ['a'] } },
      shape,
    );
    assert.deepEqual(result, { metadata: { finalizers: ['b', 'c'] } });
  });

  it('refuse items without their key and instructions that are none', () => {
    assert.throws(() => patched({ containers: [app] }, { containers: [{ image: 'x' }] }), /merge key: name/);
    assert.throws(() => patched({ containers: [app] }, { $patch: 'nope' }), /unknown patch type: nope/);
  });

  it('leave what they do not touch as it is', () => {
    const spec = { containers: [app], nodeSelector: { a: 'b' } };
    const { spec: next } = strategicPatch({ spec }, { spec: { priority: 1 } }, shape) as { spec: typeof spec };
    assert.equal(next.nodeSelector, spec.nodeSelector);
    assert.deepEqual(spec, { containers: [app], nodeSelector: { a: 'b' } });
  });
});
