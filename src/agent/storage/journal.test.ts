import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openJournal } from './journal.ts';
import { createDisk, type DiskOp, diskError } from './testing/disk.ts';
import { createRegister, openRegister, testEnv } from './testing/register.ts';

const syncs = (ops: readonly DiskOp[]): number => ops.filter(({ kind }) => kind === 'sync').length;

describe('the journal', () => {
  it('batches concurrent records into one write and fsync, and acknowledges them in order', async () => {
    const disk = createDisk();
    const { journal } = await openRegister(disk, 1_000_000);
    const before = syncs(disk.ops);
    const answered: number[] = [];
    await Promise.all(
      Array.from({ length: 50 }, async (_, value) => {
        await journal.append({ key: `k${value}`, value });
        answered.push(value);
      }),
    );
    assert.equal(syncs(disk.ops) - before, 1);
    assert.deepEqual(
      answered,
      Array.from({ length: 50 }, (_, value) => value),
    );
  });

  it('applies a record before its append resolves, and never a failed one', async () => {
    const disk = createDisk();
    const { journal, values } = await openRegister(disk);
    await journal.append({ key: 'a', value: 1 });
    assert.equal(values.get('a'), 1);
    disk.failure = (op) => (op.kind === 'sync' ? diskError('EIO') : undefined);
    await assert.rejects(journal.append({ key: 'a', value: 2 }), { code: 'Io' });
    assert.equal(values.get('a'), 1);
  });

  it('stays within its size limit', async () => {
    const disk = createDisk();
    const { journal } = await openRegister(disk, 500);
    for (let value = 0; value < 300; value += 1) await journal.append({ key: `k${value % 3}`, value });
    const size = disk.visible().get('/state/register')?.length ?? 0;
    assert.ok(size < 600, `${size} bytes`);
    assert.deepEqual([...disk.visible().keys()], ['/state/register']);
  });

  it('writes nothing without an append', async () => {
    const disk = createDisk();
    const { journal } = await openRegister(disk);
    const before = disk.ops.length;
    await journal.close();
    assert.equal(disk.ops.length, before);
    await assert.rejects(journal.append({ key: 'a', value: 1 }), { code: 'Closed' });
  });

  for (const [errno, code, words] of [
    ['ENOSPC', 'NoSpace', /disk is full: free some space/],
    ['EDQUOT', 'NoSpace', /quota/],
    ['EROFS', 'ReadOnly', /read-only: mount it for writing/],
    ['EIO', 'Io', /the disk failed \(EIO\)/],
  ] as const) {
    it(`reports ${code} for ${errno} in any operation, loses nothing, and recovers`, async () => {
      const disk = createDisk();
      const { journal, values } = await openRegister(disk, 150);
      const expected = new Map<string, number>();
      for (let failing = 1; failing <= 8; failing += 1) {
        let count = 0;
        disk.failure = () => {
          count += 1;
          return count === failing ? diskError(errno) : undefined;
        };
        const key = `k${failing % 4}`;
        try {
          await journal.append({ key, value: failing });
          expected.set(key, failing);
        } catch (error) {
          assert.ok(error instanceof Error && 'code' in error);
          assert.equal(error.code, code);
          assert.match(error.message, words);
        }
        disk.failure = undefined;
        await journal.append({ key: 'b', value: failing });
        expected.set('b', failing);
        assert.deepEqual(values, expected);
        assert.deepEqual([...disk.visible().keys()], ['/state/register']);
        const again = await openRegister(disk);
        assert.deepEqual(again.values, expected, `operation ${failing}`);
        assert.equal(again.journal.damage, undefined);
      }
    });
  }

  it('continues if compaction fails, and leaves no partial file on a full disk', async () => {
    const disk = createDisk();
    const { journal, values } = await openRegister(disk, 150);
    disk.failure = (op) =>
      op.kind === 'write' && op.bytes.includes('edgeset-journal') ? diskError('ENOSPC') : undefined;
    for (let value = 1; value <= 20; value += 1) await journal.append({ key: 'a', value });
    await journal.close();
    assert.deepEqual([...disk.visible().keys()], ['/state/register']);
    assert.deepEqual((await openRegister(disk)).values, values);
  });

  it('truncates the rest of a failed write at once', async () => {
    const disk = createDisk();
    const { journal } = await openRegister(disk);
    await journal.append({ key: 'a', value: 1 });
    const before = disk.visible();
    disk.failure = (op) => (op.kind === 'write' ? diskError('ENOSPC') : undefined);
    await assert.rejects(journal.append({ key: 'a', value: 2 }), { code: 'NoSpace' });
    assert.deepEqual(disk.visible(), before);
  });

  it('opens for reading on a read-only disk, and writes once that is possible', async () => {
    const disk = createDisk();
    const first = await openRegister(disk);
    await first.journal.append({ key: 'a', value: 1 });
    await first.journal.close();
    disk.failure = () => diskError('EROFS');
    const { journal, values } = await openRegister(disk);
    assert.equal(values.get('a'), 1);
    assert.match(journal.trouble ?? '', /read-only/);
    await assert.rejects(journal.append({ key: 'a', value: 2 }), { code: 'ReadOnly' });
    disk.failure = undefined;
    await journal.append({ key: 'a', value: 3 });
    assert.equal(journal.trouble, undefined);
    assert.equal((await openRegister(disk)).values.get('a'), 3);
  });

  it('reads only after it has the lock, because another process may still write', async () => {
    const disk = createDisk();
    const other = await openRegister(disk);
    const state = createRegister();
    await openJournal({
      dir: '/state',
      name: 'register',
      env: testEnv,
      state,
      files: disk,
      lock: async () => {
        await other.journal.append({ key: 'a', value: 1 });
        await other.journal.close();
        return { held: () => Promise.resolve(true), release: () => Promise.resolve() };
      },
    });
    assert.equal(state.values.get('a'), 1);
  });

  it('does not overwrite the records of another process if it was opened without the lock', async () => {
    const disk = createDisk();
    const first = await openRegister(disk);
    await first.journal.append({ key: 'a', value: 1 });
    await first.journal.close();
    let readOnly = true;
    let locks = 0;
    disk.failure = () => (readOnly ? diskError('EROFS') : undefined);
    const late = await openJournal({
      dir: '/state',
      name: 'register',
      env: testEnv,
      state: createRegister(),
      files: disk,
      lock: () => {
        if (readOnly) return Promise.reject(diskError('EROFS'));
        locks += 1;
        return Promise.resolve({ held: () => Promise.resolve(true), release: () => Promise.resolve() });
      },
    });
    readOnly = false;
    const other = await openRegister(disk);
    await other.journal.append({ key: 'a', value: 2 });
    await other.journal.close();
    await assert.rejects(late.append({ key: 'b', value: 1 }), { code: 'Locked', message: /restart this agent/ });
    assert.equal(locks, 1);
    assert.equal((await openRegister(disk)).values.get('a'), 2);
  });

  it('does not open an unreadable file as an empty journal', async () => {
    const disk = createDisk();
    disk.read = () => Promise.reject(diskError('EIO'));
    await assert.rejects(openRegister(disk), { code: 'Io' });
    assert.equal(disk.ops.length, 0);
  });

  it('refuses a record that is too large', async () => {
    const { journal } = await openRegister(createDisk());
    await assert.rejects(journal.append({ key: 'x'.repeat(70_000), value: 1 }), { code: 'TooLarge' });
    await journal.append({ key: 'x', value: 1 });
  });
});
