import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { afterPowerCut, createDisk, type Disk, type DiskOp, diskError, type Keep } from './testing/disk.ts';
import { openRegister } from './testing/register.ts';

const FILE = '/state/register';

/** What was acknowledged to a caller after `at` disk operations. */
interface Promised {
  at: number;
  kind: 'asked' | 'answered';
  key: string;
  value: number;
}

interface Story {
  ops: readonly DiskOp[];
  promises: Promised[];
}

/** Single records, batches, compactions, restarts, and a disk that is full for a while. */
const live = async (): Promise<Story> => {
  const disk = createDisk();
  const promises: Promised[] = [];
  let value = 0;
  const put = async (opened: Awaited<ReturnType<typeof openRegister>>, key: string): Promise<void> => {
    value += 1;
    const mine = value;
    promises.push({ at: disk.ops.length, kind: 'asked', key, value: mine });
    await opened.journal.append({ key, value: mine });
    promises.push({ at: disk.ops.length, kind: 'answered', key, value: mine });
  };
  for (let life = 0; life < 3; life += 1) {
    const opened = await openRegister(disk, 220);
    await put(opened, 'a');
    await Promise.all(['b', 'c', 'a', 'd'].map((key) => put(opened, key)));
    disk.failure = (op) => (op.kind === 'write' ? diskError('ENOSPC') : undefined);
    await assert.rejects(put(opened, 'c'), { code: 'NoSpace' });
    disk.failure = undefined;
    await put(opened, 'b');
    disk.failure = (op) => (op.kind === 'sync' ? diskError('EIO') : undefined);
    await assert.rejects(put(opened, 'd'), { code: 'Io' });
    disk.failure = undefined;
    for (const key of ['a', 'e', 'b', 'e']) await put(opened, key);
    await opened.journal.close();
  }
  return { ops: disk.ops, promises };
};

const checkPromises = (values: ReadonlyMap<string, number>, story: Story, cut: number, how: string): void => {
  const least = new Map<string, number>();
  const known = new Set<string>();
  for (const { at, kind, key, value } of story.promises) {
    // With an equal count, the acknowledgement came before the next operation, so it must hold.
    if (kind === 'answered' && at <= cut) least.set(key, value);
    if (kind === 'asked' && at <= cut) known.add(`${key}${value}`);
  }
  for (const [key, value] of least) {
    const found = values.get(key) ?? 0;
    assert.ok(found >= value, `${how}: ${key} was answered ${value}, and is ${found}`);
  }
  for (const [key, value] of values) assert.ok(known.has(`${key}${value}`), `${how}: ${key}=${value} was never asked`);
};

/** Opens the remaining files as after a power cut, and appends again. */
const reopen = async (disk: Disk, story: Story, cut: number, how: string): Promise<ReadonlyMap<string, number>> => {
  const first = await openRegister(disk);
  checkPromises(first.values, story, cut, how);
  const shown = new Map(first.values);
  await first.journal.append({ key: 'after', value: 1 });
  await first.journal.close();
  const again = await openRegister(createDisk(afterPowerCut(disk.ops, () => false)));
  assert.deepEqual(again.values, new Map([...shown, ['after', 1]]), how);
  assert.equal(again.journal.damage, undefined, how);
  await again.journal.close();
  return shown;
};

/** A deterministic generator of bits. */
const bitsOf = (seed: number): (() => boolean) => {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state & 0x10000) !== 0;
  };
};

const isName = (op: DiskOp): boolean => op.kind === 'create' || op.kind === 'rename' || op.kind === 'remove';

describe('the journal after a power cut', () => {
  it('keeps every acknowledged record, with a cut after every operation and any state of unsynced writes', async () => {
    const story = await live();
    assert.ok(story.ops.filter((op) => op.kind === 'rename').length > 6, 'the story compacts');
    for (let cut = 0; cut <= story.ops.length; cut += 1) {
      const ops = story.ops.slice(0, cut);
      const keeps: [string, Keep][] = [
        ['all kept', () => true],
        ['nothing kept', () => false],
        ['names kept, data lost', isName],
        ['data kept, names lost', (op) => !isName(op)],
      ];
      for (let seed = 0; seed < 6; seed += 1) {
        const bit = bitsOf(cut * 10 + seed);
        // On a journaling file system, changes of a directory reach the disk in order: keep a prefix of them.
        let named = true;
        keeps.push([
          `random ${seed}`,
          (op) => {
            if (isName(op)) named &&= bit() || bit();
            if (isName(op)) return named;
            if (op.kind !== 'write') return bit();
            const sectors = new Map<number, boolean>();
            return (byte) => {
              const sector = Math.floor((op.position + byte) / 16);
              if (!sectors.has(sector)) sectors.set(sector, bit());
              return sectors.get(sector) === true;
            };
          },
        ]);
      }
      for (const [how, keep] of keeps)
        await reopen(createDisk(afterPowerCut(ops, keep)), story, cut, `cut after operation ${cut}, ${how}`);
    }
  });

  it('keeps every acknowledged record, with a cut at every byte, and reports no damage for a torn end', async () => {
    const story = await live();
    let cuts = 0;
    for (const [index, op] of story.ops.entries()) {
      if (op.kind !== 'write') continue;
      for (let bytes = 0; bytes <= op.bytes.length; bytes += 1) {
        const torn = { ...op, bytes: op.bytes.subarray(0, bytes) };
        const how = `cut at byte ${bytes} of operation ${index}`;
        const files = afterPowerCut([...story.ops.slice(0, index), torn], () => true);
        const disk = createDisk(files);
        const opened = await openRegister(disk);
        assert.equal(opened.journal.damage, undefined, how);
        assert.equal(disk.visible().get(FILE)?.at(-1), 0x0a, `${how}: the torn end is cut off`);
        await opened.journal.close();
        await reopen(createDisk(files), story, index, how);
        cuts += 1;
      }
    }
    assert.ok(cuts > 2000, `${cuts} cuts`);
  });

  it('shows only durable records after a crash of the process', async () => {
    const story = await live();
    for (let cut = 0; cut <= story.ops.length; cut += 1) {
      const disk = createDisk(story.ops.slice(0, cut));
      const { values, journal } = await openRegister(disk);
      const shown = new Map(values);
      checkPromises(values, story, cut, `crash after operation ${cut}`);
      await journal.append({ key: 'after', value: 1 });
      shown.set('after', 1);
      await journal.close();
      const later = await openRegister(createDisk(afterPowerCut(disk.ops, () => false)));
      assert.deepEqual(later.values, shown, `crash after operation ${cut}, then a power cut`);
    }
  });

  it('always keeps a damaged file while it is copied', async () => {
    const disk = createDisk();
    const { journal } = await openRegister(disk);
    for (const key of ['a', 'b', 'c']) await journal.append({ key, value: 1 });
    const bad = Buffer.from(disk.visible().get(FILE) ?? '');
    bad[bad.length - 5] = 0x21;
    const damaged = createDisk(new Map([[FILE, bad]]));
    await openRegister(damaged);
    for (let cut = 4; cut <= damaged.ops.length; cut += 1) {
      for (const keep of [() => true, () => false, isName, (op: DiskOp) => !isName(op)]) {
        const left = afterPowerCut(damaged.ops.slice(0, cut), keep);
        assert.ok(
          [...left.values()].some((bytes) => bytes.equals(bad)),
          `cut after operation ${cut}`,
        );
        assert.deepEqual([...(await openRegister(createDisk(left))).values.keys()], ['a', 'b']);
      }
    }
  });
});
