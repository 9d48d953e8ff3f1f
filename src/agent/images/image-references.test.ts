import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { imagesOf, repositoryOf, withDefaultTag } from './image-references.ts';

const digest = `sha256:${'a'.repeat(64)}`;

describe('an image name', () => {
  it('gets the default tag of Kubernetes, and keeps its short form', () => {
    const cases: [string, string][] = [
      ['busybox', 'busybox:latest'],
      ['busybox:1', 'busybox:1'],
      ['localhost:5000/app', 'localhost:5000/app:latest'],
      ['localhost:5000/app:v1', 'localhost:5000/app:v1'],
      [`r.example/app@${digest}`, `r.example/app@${digest}`],
      [`r.example/app:v1@${digest}`, `r.example/app:v1@${digest}`],
    ];
    for (const [image, full] of cases) assert.equal(withDefaultTag(image), full);
  });

  it('is split into registry and path', () => {
    const cases: [string, string][] = [
      ['busybox', 'docker.io/library/busybox'],
      ['team/app:v1', 'docker.io/team/app'],
      ['docker.io/busybox', 'docker.io/library/busybox'],
      ['index.docker.io/team/app', 'docker.io/team/app'],
      ['localhost/app', 'localhost/app'],
      ['localhost:5000/a/b:v1', 'localhost:5000/a/b'],
      [`r.example/app:v1@${digest}`, 'r.example/app'],
      ['Registry/app', 'Registry/app'],
    ];
    for (const [image, repository] of cases) assert.equal(repositoryOf(image), repository);
  });
});

describe('the images of a template', () => {
  it('are those of all containers and volumes, once each', () => {
    const spec = {
      containers: [
        { name: 'a', image: 'app:v2', imagePullPolicy: 'IfNotPresent' },
        { name: 'b', image: 'app:v2', imagePullPolicy: 'Always' },
        { name: 'c', image: 'app:v2', imagePullPolicy: 'Never' },
        { name: 'd' },
      ],
      initContainers: [{ name: 'sidecar', image: 'mesh', restartPolicy: 'Always' }],
      volumes: [
        { name: 'data', emptyDir: {} },
        { name: 'model', image: { reference: `r.example/model@${digest}` } },
      ],
    } as PodSpec;
    assert.deepEqual(imagesOf(spec), [
      { image: 'mesh:latest', policy: 'Always' },
      { image: 'app:v2', policy: 'Always' },
      { image: `r.example/model@${digest}`, policy: 'IfNotPresent' },
    ]);
  });

  it('have the default policy of Kubernetes', () => {
    const policyOf = (image: string) => imagesOf({ containers: [{ name: 'a', image }] })[0]?.policy;
    assert.equal(policyOf('app'), 'Always');
    assert.equal(policyOf('app:latest'), 'Always');
    assert.equal(policyOf('app:v1'), 'IfNotPresent');
    assert.equal(policyOf(`app:latest@${digest}`), 'IfNotPresent');
  });
});
