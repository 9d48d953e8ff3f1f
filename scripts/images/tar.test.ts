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

it('has owner root, time 0, the folders that files need, and the same bytes whatever the order and the umask', () => {
  const options = ['--list', '--verbose', '--numeric-owner', '--full-time', '--utc', '--file', '-'];
  const input = tarOf(entries);
  const listed = execFileSync('tar', options, { input, encoding: 'utf8' });
  assert.deepEqual(listed.trimEnd().replaceAll(/ +/g, ' ').split('\n'), [
    'lrwxrwxrwx 0/0 0 1970-01-01 00:00:00 bin -> usr/bin',
    '-rw-r--r-- 0/0 0 1970-01-01 00:00:00 empty',
    'drwxrwxrwt 0/0 0 1970-01-01 00:00:00 tmp/',
    'drwxr-xr-x 0/0 0 1970-01-01 00:00:00 usr/',
    'drwxr-xr-x 0/0 0 1970-01-01 00:00:00 usr/bin/',
    '-rwxr-xr-x 0/0 1000 1970-01-01 00:00:00 usr/bin/program',
  ]);
  const umask = process.umask(0o077);
  const again = tarOf(entries.toReversed());
  process.umask(umask);
  assert.deepEqual(again, input);
});
