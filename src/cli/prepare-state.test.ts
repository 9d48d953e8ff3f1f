import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';

const script = path.join(import.meta.dirname, '../../bin/agent.ts');
const skip = process.getuid?.() !== 0 && 'needs root';

const folderOf = (t: TestContext): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-prepare-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
};

const run = (program: string, ...args: string[]) => spawnSync(program, args, { encoding: 'utf8' });

/** As the init container runs it: root, with these capabilities only. */
const prepare = (capabilities: string, ...args: string[]) =>
  run('setpriv', `--bounding-set=-all${capabilities}`, process.execPath, script, 'prepare-state', ...args);

test('the capability CHOWN suffices to prepare the state directory', { skip }, (t) => {
  const dir = folderOf(t);
  const first = prepare(',+chown', `--state-dir=${dir}`);
  assert.equal(first.status, 0, first.stderr);
  assert.equal(first.stderr, `edgeset-agent: ${dir} now belongs to uid 10267\n`);
  assert.equal(statSync(dir).uid, 10267);
  // The agent's private directory can't be opened now.
  const again = prepare(',+chown', `--state-dir=${dir}`);
  assert.equal(again.stderr, `edgeset-agent: ${dir} belongs to uid 10267\n`);
  assert.equal(again.status, 0);
});

test('it belongs to another user on request', { skip }, (t) => {
  const dir = folderOf(t);
  assert.equal(prepare(',+chown', `--state-dir=${dir}`, '--uid=4321').status, 0);
  assert.equal(statSync(dir).uid, 4321);
  const other = prepare(',+chown', `--state-dir=${dir}`);
  assert.equal(other.status, 1);
  assert.match(other.stderr, /belongs to uid 4321 and is private: empty it and chown it to root on the node\n$/);
});

test('without the capability it exits with 1 and names it', { skip }, (t) => {
  const { status, stderr } = prepare('', `--state-dir=${folderOf(t)}`);
  assert.equal(status, 1);
  assert.match(stderr, /^edgeset-agent: cannot give .* to uid 10267: run this as root with the capability CHOWN/);
});

test('a read-only disk is named', { skip }, (t) => {
  const mounted = 'mount -t tmpfs -o ro none "$1" && exec "$2" "$3" prepare-state --state-dir="$1"';
  const { status, stderr } = run('unshare', '-m', 'sh', '-c', mounted, 'sh', folderOf(t), process.execPath, script);
  assert.equal(status, 1);
  assert.match(stderr, /the file system is read-only: mount it for writing/);
});

test('bad flags exit with 2', () => {
  for (const [args, message] of [
    [[], /^edgeset-agent: --state-dir is required: give --state-dir <folder>/],
    [['--state-dir=/state', '--uid=0'], /^edgeset-agent: --uid: "0" is not the uid of a user other than root: give/],
    [['--state-dir=/state', '--uid=agent'], /^edgeset-agent: --uid: "agent" is not the uid/],
  ] as const) {
    const { status, stderr } = run(process.execPath, script, 'prepare-state', ...args);
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  }
});
