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

  it('put new items before unmentioned ones, and delete items', () => {
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

  it('replace a whole list or object with $patch: replace', () => {
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

  it('apply $setElementOrder, keeping unmentioned items in place', () => {
    const present = { containers: [{ name: 'a' }, { name: 'server' }, { name: 'b' }] };
    const patch = {
      '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
      containers: [{ name: 'b', image: 'x' }],
    };
    assert.deepEqual(patched(present, patch), {
      containers: [{ name: 'server' }, { name: 'b', image: 'x' }, { name: 'a' }],
    });
  });

  it('keep only the keys in $retainKeys', () => {
    const present = { volumes: [{ name: 'v', emptyDir: {} }] };
    const patch = { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] };
    assert.deepEqual(patched(present, patch), { volumes: [{ name: 'v', hostPath: { path: '/x' } }] });
  });

  it('merge lists of primitives as sets, and delete from them', () => {
    const result = strategicPatch(
      { metadata: { finalizers: ['a', 'b'] } },
      { metadata: { finalizers: ['b', 'c'], '$deleteFromPrimitiveList/finalizers': ['a'] } },
      shape,
    );
    assert.deepEqual(result, { metadata: { finalizers: ['b', 'c'] } });
  });

  it('reject items without their key and unknown directives', () => {
    assert.throws(() => patched({ containers: [app] }, { containers: [{ image: 'x' }] }), /merge key: name/);
    assert.throws(() => patched({ containers: [app] }, { $patch: 'nope' }), /unknown patch type: nope/);
  });

  it("keep what they don't mention", () => {
    const spec = { containers: [app], nodeSelector: { a: 'b' } };
    const { spec: next } = strategicPatch({ spec }, { spec: { priority: 1 } }, shape) as { spec: typeof spec };
    assert.equal(next.nodeSelector, spec.nodeSelector);
    assert.deepEqual(spec, { containers: [app], nodeSelector: { a: 'b' } });
  });
});
