import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { it } from 'node:test';
import { type Entry, tarOf } from './tar.ts';

const entries: Entry[] = [
  { kind: 'file', path: 'usr/bin/program', mode: 0o755, content: Buffer.alloc(1_000, 'x') },
  { kind: 'link', path: 'bin', target: 'usr/bin' },
  { kind: 'folder', path: 'tmp', mode: 0o1777 },
  { kind: 'file', path: 'empty', mode: 0o644, content: Buffer.alloc(0) },
];

const listed = (tar: Buffer): string[] =>
  execFileSync('tar', ['--list', '--verbose', '--numeric-owner', '--full-time', '--utc', '--file', '-'], {
    input: tar,
    encoding: 'utf8',
  })
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' '));

it('is read by tar, with owner root, time 0 and the folders that files need', () => {
  assert.deepEqual(listed(tarOf(entries)), [
    'lrwxrwxrwx 0/0 0 1970-01-01 00:00:00 bin -> usr/bin',
    '-rw-r--r-- 0/0 0 1970-01-01 00:00:00 empty',
    'drwxrwxrwt 0/0 0 1970-01-01 00:00:00 tmp/',
    'drwxr-xr-x 0/0 0 1970-01-01 00:00:00 usr/',
    'drwxr-xr-x 0/0 0 1970-01-01 00:00:00 usr/bin/',
    '-rwxr-xr-x 0/0 1000 1970-01-01 00:00:00 usr/bin/program',
  ]);
  const content = execFileSync('tar', ['-xOf', '-', 'usr/bin/program'], { input: tarOf(entries), encoding: 'utf8' });
  assert.equal(content, 'x'.repeat(1_000));
});

it('has the same bytes whatever the order of its entries', () => {
  assert.deepEqual(tarOf(entries.toReversed()), tarOf(entries));
});

it('refuses a name that its header cannot hold', () => {
  assert.throws(() => tarOf([{ kind: 'folder', path: 'x'.repeat(101), mode: 0o755 }]), /too long/);
});
