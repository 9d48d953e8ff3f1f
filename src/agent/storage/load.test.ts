import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDisk, diskError } from './testing/disk.ts';
import { openRegister } from './testing/register.ts';

const FILE = '/state/register';
const keys = ['a', 'b', 'c', 'd', 'e'];

const written = async (): Promise<Buffer> => {
  const disk = createDisk();
  const { journal } = await openRegister(disk);
  for (const [index, key] of keys.entries()) await journal.append({ key, value: index + 1 });
  await journal.close();
  return disk.visible().get(FILE) ?? Buffer.alloc(0);
};

/** Index of the record at this byte; -1 for the format record. */
const recordAt = (bytes: Buffer, at: number): number => bytes.subarray(0, at).toString().split('\n').length - 2;

describe('a journal with a damaged byte', () => {
  it('keeps every other record, reports the damage, and copies the file, for any byte', async () => {
    const good = await written();
    const all = new Map(keys.map((key, index) => [key, index + 1]));
    for (let at = 0; at < good.length; at += 1) {
      for (const change of [(byte: number) => byte ^ 1, (byte: number) => byte ^ 0x80, () => 0, () => 0x0a]) {
        const bad = Buffer.from(good);
        bad[at] = change(bad[at] ?? 0);
        if (bad.equals(good)) continue;
        const how = `byte ${at} is ${bad[at]}`;
        const disk = createDisk(new Map([[FILE, bad]]));
        const { journal, values } = await openRegister(disk);
        const hit = keys[recordAt(good, at)];
        const others = new Map([...all].filter(([key]) => key !== hit));
        assert.deepEqual(new Map([...values].filter(([key]) => key !== hit)), others, how);
        if (!values.has(hit ?? '') && hit !== undefined) assert.match(journal.damage ?? '', /is damaged/, how);
        if (journal.damage !== undefined) {
          assert.deepEqual(disk.visible().get(`${FILE}.damaged-1`), bad, how);
          assert.match(journal.damage, /register\.damaged-1/, how);
        }
        await journal.append({ key: 'z', value: 9 });
        const again = await openRegister(disk);
        assert.deepEqual(again.values, new Map(values), how);
        assert.equal(again.journal.damage, undefined, how);
      }
    }
  });

  it('treats zeros at the end as an interrupted write', async () => {
    const good = await written();
    const { journal, values } = await openRegister(
      createDisk(new Map([[FILE, Buffer.concat([good, Buffer.alloc(512)])]])),
    );
    assert.equal(journal.damage, undefined);
    assert.equal(values.size, keys.length);
  });

  it('starts empty if the file is not a journal, and keeps a copy', async () => {
    const text = Buffer.from('hello\nworld\n');
    const disk = createDisk(new Map([[FILE, text]]));
    const { journal, values } = await openRegister(disk);
    assert.equal(values.size, 0);
    assert.match(journal.damage ?? '', /12 bytes cannot be read, its beginning is missing/);
    assert.deepEqual(disk.visible().get(`${FILE}.damaged-1`), text);
  });

  it('keeps copies of the last five damaged files, with increasing numbers', async () => {
    const good = await written();
    const bad = Buffer.from(good);
    bad[good.length - 5] = 0x21;
    const asides = [1, 2, 3, 4, 5].map((number) => [`${FILE}.damaged-${number}`, Buffer.from('x')] as const);
    const disk = createDisk(new Map([[FILE, bad], ...asides]));
    await openRegister(disk);
    const kept = [...disk.visible().keys()].filter((name) => name.includes('damaged')).toSorted();
    assert.deepEqual(
      kept,
      [2, 3, 4, 5, 6].map((number) => `${FILE}.damaged-${number}`),
    );
  });

  it('uses a damaged file without changing it while there is no space for a copy', async () => {
    const good = await written();
    const bad = Buffer.from(good);
    bad[good.length - 5] = 0x21;
    const disk = createDisk(new Map([[FILE, bad]]));
    disk.failure = (op) => (op.kind === 'write' ? diskError('ENOSPC') : undefined);
    const { journal, values } = await openRegister(disk);
    assert.equal(values.size, keys.length - 1);
    assert.match(journal.trouble ?? '', /the disk is full/);
    await assert.rejects(journal.append({ key: 'z', value: 1 }), { code: 'NoSpace' });
    assert.deepEqual(disk.visible().get(FILE), bad);
    disk.failure = undefined;
    await journal.append({ key: 'z', value: 1 });
    assert.equal(journal.trouble, undefined);
    assert.deepEqual(
      [...disk.visible()].filter(([name, bytes]) => name.includes('damaged') && bytes.equals(bad)).length,
      1,
    );
  });

  it('refuses a file of a later version, and does not change it', async () => {
    const good = await written();
    const { encodeFrame } = await import('./frames.ts');
    const later = Buffer.concat([encodeFrame(['{"format":"edgeset-journal","version":2}']), good]);
    const disk = createDisk(new Map([[FILE, later]]));
    await assert.rejects(openRegister(disk), { code: 'UnknownFormat' });
    assert.deepEqual(disk.visible(), new Map([[FILE, later]]));
  });
});
