import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recordedTemplate, templateDigest } from './template.ts';

const template = { metadata: { labels: { a: '1', b: '2' } }, spec: { containers: [{ name: 'x', image: 'y:1' }] } };

describe('templateDigest', () => {
  it('ignores the order of keys, nulls, and the patch directive of a ControllerRevision', () => {
    const recorded = {
      $patch: 'replace',
      spec: { containers: [{ image: 'y:1', name: 'x' }], tolerations: null },
      metadata: { creationTimestamp: null, labels: { b: '2', a: '1' } },
    };
    assert.equal(templateDigest(recorded), templateDigest(template));
  });

  it('depends on every other difference', () => {
    const others = [
      { ...template, spec: { containers: [{ name: 'x', image: 'y:2' }] } },
      { ...template, metadata: { labels: { a: '1' } } },
      { ...template, spec: { containers: [...template.spec.containers, { name: 'z', image: 'y:1' }] } },
      { ...template, spec: { ...template.spec, hostNetwork: false } },
    ];
    const digests = new Set([template, ...others].map(templateDigest));
    assert.equal(digests.size, 5);
    const [one, two] = [{ args: ['a', 'b'] }, { args: ['b', 'a'] }];
    assert.notEqual(templateDigest(one), templateDigest(two), 'lists have an order');
  });
});

it('recordedTemplate reads the template if there is one', () => {
  assert.deepEqual(recordedTemplate({ revision: 1, data: { spec: { template } } }), template);
  for (const data of [undefined, {}, { spec: null }, { spec: {} }, { spec: { template: 'text' } }])
    assert.equal(recordedTemplate({ revision: 1, ...(data && { data }) }), undefined);

  it('refuses one of more levels than a stack holds, and says so', () => {
    const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
    assert.equal(templateDigest(deep(150)), templateDigest(deep(150)));
    assert.throws(() => templateDigest(deep(5_000)), /the pod template has more than 200 levels: remove/);
  });
});
