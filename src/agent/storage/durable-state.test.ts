import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDisk, type Disk, diskError } from './testing/disk.ts';
import { openRegister, openRegisterIn } from './testing/register.ts';

const namesOn = (disk: Disk): string[] => [...disk.visible().keys()].toSorted();

describe('a durable state', () => {
  it('has two generations, each its own file', async () => {
    const disk = createDisk();
    const register = await openRegister(disk);
    for (let value = 0; value < 30; value += 1) await register.put('a', value);
    assert.deepEqual(namesOn(disk), ['/state/register', '/state/register.previous']);
    const size = (name: string): number => disk.visible().get(name)?.length ?? 0;
    assert.ok(size('/state/register') < 150 && size('/state/register.previous') < 150);
  });

  it('writes nothing without a save, and nothing once it is closed', async () => {
    const disk = createDisk();
    const register = await openRegister(disk);
    await register.state.close();
    assert.deepEqual(namesOn(disk), []);
    await assert.rejects(register.put('a', 1), { code: 'Closed' });
  });

  for (const [errno, code, words] of [
    ['ENOSPC', 'NoSpace', /disk is full: free some space/],
    ['EDQUOT', 'NoSpace', /quota/],
    ['EROFS', 'ReadOnly', /read-only: mount it for writing/],
    ['EIO', 'Io', /the disk failed \(EIO\)/],
  ] as const) {
    it(`reports ${code} for ${errno} in any operation, loses nothing, and recovers`, async () => {
      const disk = createDisk();
      const register = await openRegister(disk);
      await register.put('b', 0);
      const expected = new Map<string, number>([['b', 0]]);
      for (let failing = 1; failing <= 8; failing += 1) {
        let count = 0;
        disk.failure = () => {
          count += 1;
          return count === failing ? diskError(errno) : undefined;
        };
        const key = `k${failing % 4}`;
        try {
          await register.put(key, failing);
          expected.set(key, failing);
        } catch (error) {
          assert.ok(error instanceof Error && 'code' in error);
          assert.equal(error.code, code);
          assert.match(error.message, words);
        }
        disk.failure = undefined;
        await register.put('b', failing);
        expected.set('b', failing);
        assert.deepEqual(register.values, expected);
        assert.deepEqual(namesOn(disk), ['/state/register', '/state/register.previous']);
        const again = await openRegister(disk);
        assert.deepEqual(again.values, expected, `operation ${failing}`);
        assert.equal(again.state.damage, undefined);
      }
    });
  }

  it('leaves no partial file on a full disk, nor a value that was rejected', async () => {
    for (const kind of ['write', 'sync', 'sync-directory'] as const) {
      const disk = createDisk();
      const register = await openRegister(disk);
      for (const value of [1, 2]) await register.put('a', value);
      let left = 1;
      disk.failure = (op) => (op.kind === kind && (left -= 1) >= 0 ? diskError('ENOSPC') : undefined);
      await assert.rejects(register.put('a', 3), { code: 'NoSpace' });
      assert.deepEqual(namesOn(disk), ['/state/register', '/state/register.previous'], kind);
      assert.equal((await openRegister(disk)).values.get('a'), 2, kind);
    }
  });

  it('opens for reading on a read-only disk, and writes once that is possible', async () => {
    const disk = createDisk();
    const first = await openRegister(disk);
    await first.put('a', 1);
    await first.state.close();
    disk.failure = () => diskError('EROFS');
    const register = await openRegister(disk);
    assert.equal(register.values.get('a'), 1);
    assert.match(register.state.trouble ?? '', /read-only/);
    await assert.rejects(register.put('a', 2), { code: 'ReadOnly' });
    assert.equal(register.values.get('a'), 1);
    disk.failure = undefined;
    await register.put('a', 3);
    assert.equal(register.state.trouble, undefined);
    assert.equal((await openRegister(disk)).values.get('a'), 3);
  });

  it('reads only after it has the lock, because another process may still write', async () => {
    const disk = createDisk();
    const other = await openRegister(disk);
    const register = await openRegisterIn({
      dir: '/state',
      files: disk,
      lock: async () => {
        await other.put('a', 1);
        await other.state.close();
        return { held: () => Promise.resolve(true), release: () => Promise.resolve() };
      },
    });
    assert.equal(register.values.get('a'), 1);
  });

  it('does not overwrite what another process saved if it was opened without the lock', async () => {
    const disk = createDisk();
    const first = await openRegister(disk);
    await first.put('a', 1);
    await first.state.close();
    let readOnly = true;
    let locks = 0;
    disk.failure = () => (readOnly ? diskError('EROFS') : undefined);
    const late = await openRegisterIn({
      dir: '/state',
      files: disk,
      lock: () => {
        if (readOnly) return Promise.reject(diskError('EROFS'));
        locks += 1;
        return Promise.resolve({ held: () => Promise.resolve(true), release: () => Promise.resolve() });
      },
    });
    readOnly = false;
    const other = await openRegister(disk);
    await other.put('a', 2);
    await other.state.close();
    await assert.rejects(late.put('b', 1), { code: 'Locked', message: /restart this agent/ });
    assert.equal(locks, 1);
    assert.equal((await openRegister(disk)).values.get('a'), 2);
  });

  it('does not open an unreadable file as an empty state', async () => {
    const disk = createDisk();
    disk.read = () => Promise.reject(diskError('EIO'));
    await assert.rejects(openRegister(disk), { code: 'Io' });
    assert.equal(disk.ops.length, 0);
  });
});
