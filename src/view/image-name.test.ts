import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareImages, readImage } from './image-name.ts';

test('an image is split into name and version', () => {
  const digest = 'sha256:0123456789abcdef0123456789abcdef';
  assert.deepEqual(readImage('nginx:1.19.4'), { name: 'nginx', version: '1.19.4' });
  assert.deepEqual(readImage('nginx'), { name: 'nginx', version: 'latest' });
  assert.deepEqual(readImage('shop.example:5000/till/app'), { name: 'app', version: 'latest' });
  assert.deepEqual(readImage('shop.example:5000/till/app:2.0'), { name: 'app', version: '2.0' });
  assert.deepEqual(readImage(`shop.example/app:2.0@${digest}`), { name: 'app', version: '2.0' });
  assert.deepEqual(readImage(`shop.example/app:latest@${digest}`), { name: 'app', version: '0123456789ab' });
  assert.deepEqual(readImage(`app@${digest}`), { name: 'app', version: '0123456789ab' });
});

test('an image name cannot reverse or hide other text', () => {
  assert.deepEqual(readImage('app:1.0\u202e0.2\n\u200b'), { name: 'app', version: '1.0\uFFFD0.2\uFFFD\uFFFD' });
});

test('containers are compared by name, including new and removed ones', () => {
  const before = [
    { container: 'app', image: 'app:1' },
    { container: 'old', image: 'old:1' },
    { container: 'same', image: 'same:1' },
  ];
  const after = [
    { container: 'app', image: 'app:2' },
    { container: 'same', image: 'same:1' },
    { container: 'new', image: 'new:1' },
  ];
  assert.deepEqual(
    compareImages(before, after).map(({ container, from, to, changed }) => [container, from, to, changed]),
    [
      ['app', '1', '2', true],
      ['old', '1', '', true],
      ['same', '1', '1', false],
      ['new', '', '1', true],
    ],
  );
});

test('an unknown target shows no changes', () => {
  const before = [{ container: 'app', image: 'app:1' }];
  assert.deepEqual(
    compareImages(before, null).map(({ changed }) => changed),
    [false],
  );
});
