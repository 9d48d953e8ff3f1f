import assert from 'node:assert/strict';
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { prepareDirectory, type StorageErrorCode } from './index.ts';

const UID = 10267;

const folderOf = (t: TestContext): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-prepare-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return path.join(folder, 'state');
};

const refusal = (code: StorageErrorCode, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Error && 'code' in error);
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};

const ownerOf = (dir: string) => {
  const { uid, gid, mode } = statSync(dir);
  return [uid, gid, (mode & 0o777).toString(8)];
};

describe('the state directory, prepared by root', { skip: process.getuid?.() !== 0 && 'needs root' }, () => {
  it('is given to the agent, private, once', async (t) => {
    const dir = folderOf(t);
    mkdirSync(dir, { mode: 0o755 });
    assert.equal(await prepareDirectory(dir, UID), true);
    assert.deepEqual(ownerOf(dir), [UID, UID, '700']);
    assert.equal(await prepareDirectory(dir, UID), false);
  });

  it('may be its own file system', async (t) => {
    const dir = folderOf(t);
    mkdirSync(path.join(dir, 'lost+found'), { recursive: true });
    assert.equal(await prepareDirectory(dir, UID), true);
  });

  it('keeps its mode and content when it is the agent already', async (t) => {
    const dir = folderOf(t);
    mkdirSync(dir, { mode: 0o750 });
    writeFileSync(path.join(dir, 'decisions'), '');
    chownSync(dir, UID, UID);
    assert.equal(await prepareDirectory(dir, UID), false);
    assert.deepEqual(ownerOf(dir), [UID, UID, '750']);
  });

  for (const owner of [0, 4321])
    it(`is refused when uid ${owner} has files in it`, async (t) => {
      const dir = folderOf(t);
      mkdirSync(dir, { mode: 0o755 });
      for (const name of ['d', 'c', 'b', 'a']) writeFileSync(path.join(dir, name), '');
      chownSync(dir, owner, owner);
      await assert.rejects(
        prepareDirectory(dir, UID),
        refusal('Unsafe', new RegExp(`belongs to uid ${owner} and holds a, b, c, \\.\\.\\.: .*chown -R ${UID}:${UID}`)),
      );
      assert.deepEqual(ownerOf(dir), [owner, owner, '755']);
    });

  it('is refused when it is a symbolic link, which is not followed', async (t) => {
    const dir = folderOf(t);
    const target = path.join(path.dirname(dir), 'target');
    mkdirSync(target, { mode: 0o755 });
    symlinkSync(target, dir);
    await assert.rejects(prepareDirectory(dir, UID), refusal('Unsafe', /is a symbolic link: remove it/));
    assert.deepEqual(ownerOf(target), [0, 0, '755']);
  });
});

describe('the state directory', () => {
  it('has to be there', async (t) => {
    await assert.rejects(prepareDirectory(folderOf(t), UID), refusal('Denied', /does not exist: mount/));
  });

  it('is not a file', async (t) => {
    const dir = folderOf(t);
    writeFileSync(dir, '');
    await assert.rejects(prepareDirectory(dir, UID), refusal('Denied', /is not a directory: remove it/));
  });
});
