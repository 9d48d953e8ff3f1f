import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { imagesBeyond, imagesOf } from './template-images.ts';

const templateWith = (spec: Partial<PodSpec> = {}): PodSpec => ({
  containers: [{ name: 'app', image: 'app:v2', imagePullPolicy: 'IfNotPresent', command: ['sh'] }],
  ...spec,
});

describe('the images of a template', () => {
  it('are those that another template lacks, if that one runs', () => {
    const side = { name: 'side', image: 'side:v1', imagePullPolicy: 'IfNotPresent' };
    const [app] = templateWith().containers;
    assert.ok(app);
    const target = templateWith({ containers: [app, side] });
    assert.deepEqual(imagesBeyond(target, templateWith()), [{ image: 'side:v1', policy: 'IfNotPresent' }]);
    assert.deepEqual(imagesBeyond(target, target), []);
    assert.deepEqual(imagesBeyond(target, undefined), imagesOf(target));
  });

  it('are those of containers, init containers, sidecars and image volumes, each once', () => {
    const volume = { name: 'v', image: { reference: 'data:v1', pullPolicy: 'Always' } };
    const spec = templateWith({
      initContainers: [
        { name: 'init', image: 'init:v1' },
        { name: 'side', image: 'side:v1', restartPolicy: 'Always' },
      ],
      containers: [
        { name: 'a', image: 'app:v2' },
        { name: 'b', image: 'app:v2' },
        { name: 'c', image: 'other:v1' },
      ],
      volumes: [volume, { name: 'w', emptyDir: {} }],
    });
    assert.deepEqual(
      imagesOf(spec).map(({ image }) => image),
      ['init:v1', 'side:v1', 'app:v2', 'other:v1', 'data:v1'],
    );
  });

  it('are pulled with the strongest policy', () => {
    const policies = ['Never', 'Always', 'IfNotPresent'];
    const containers = policies.map((imagePullPolicy, index) => ({
      name: `c${index}`,
      image: 'app:v2',
      imagePullPolicy,
    }));
    assert.deepEqual(imagesOf({ containers }), [{ image: 'app:v2', policy: 'Always' }]);
  });
});
