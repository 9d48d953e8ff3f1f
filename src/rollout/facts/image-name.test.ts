import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fullImageName } from './image-name.ts';

describe('an image name', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const cases: [string, string][] = [
    ['busybox', 'docker.io/library/busybox:latest'],
    ['busybox:1', 'docker.io/library/busybox:1'],
    ['team/app', 'docker.io/team/app:latest'],
    ['docker.io/busybox', 'docker.io/library/busybox:latest'],
    ['index.docker.io/team/app:v1', 'docker.io/team/app:v1'],
    ['localhost/app', 'localhost/app:latest'],
    ['localhost:5000/a/b:v1', 'localhost:5000/a/b:v1'],
    ['Registry/app', 'Registry/app:latest'],
    [`r.example/app@${digest}`, `r.example/app@${digest}`],
    [`r.example/app:v1@${digest}`, `r.example/app@${digest}`],
  ];
  for (const [image, full] of cases)
    it(`${image} is that of a container runtime`, () => assert.equal(fullImageName(image), full));
});
