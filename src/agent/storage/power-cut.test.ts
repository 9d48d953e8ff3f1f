import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { afterPowerCut, createDisk, type Disk, type DiskOp, diskError, type Keep } from './testing/disk.ts';
import { openRegister, type Register } from './testing/register.ts';

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

/** Saves, restarts, and a disk that is full for a while, or loses what is synced. */
const live = async (lives = 3): Promise<Story> => {
  const disk = createDisk();
  const promises: Promised[] = [];
  let value = 0;
  const put = async (register: Register, key: string): Promise<void> => {
    value += 1;
    const mine = value;
    promises.push({ at: disk.ops.length, kind: 'asked', key, value: mine });
    await register.put(key, mine);
    promises.push({ at: disk.ops.length, kind: 'answered', key, value: mine });
  };
  for (let life = 0; life < lives; life += 1) {
    const register = await openRegister(disk);
    for (const key of ['a', 'b', 'c']) await put(register, key);
    for (const kind of ['create', 'write', 'sync', 'rename', 'sync-directory'] as const) {
      let left = 1;
      disk.failure = (op) => (op.kind === kind && (left -= 1) >= 0 ? diskError('EIO') : undefined);
      await assert.rejects(put(register, 'd'), { code: 'Io' });
      disk.failure = undefined;
      if (kind !== 'rename') await put(register, 'b');
    }
    disk.failure = (op) => (op.kind === 'rename' && op.from.endsWith('.new') ? diskError('EIO') : undefined);
    await assert.rejects(put(register, 'c'), { code: 'Io' });
    disk.failure = (op) => (op.kind === 'write' ? diskError('ENOSPC') : undefined);
    await assert.rejects(put(register, 'c'), { code: 'NoSpace' });
    disk.failure = undefined;
    for (const key of ['a', 'e', 'b', 'e']) await put(register, key);
    await register.state.close();
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
  assert.equal(first.state.damage, undefined, how);
  await first.put('after', 1);
  await first.state.close();
  const again = await openRegister(createDisk(afterPowerCut(disk.ops, () => false)));
  assert.deepEqual(again.values, new Map([...shown, ['after', 1]]), how);
  assert.equal(again.state.damage, undefined, how);
  await again.state.close();
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

describe('a durable state after a power cut', () => {
  it('keeps everything acknowledged, with a cut after every operation and any state of unsynced writes', async () => {
    const story = await live();
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
              const sector = Math.floor(byte / 16);
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

  it('keeps everything acknowledged, with a cut at every byte', async () => {
    const story = await live(2);
    let cuts = 0;
    for (const [index, op] of story.ops.entries()) {
      if (op.kind !== 'write') continue;
      for (let bytes = 0; bytes <= op.bytes.length; bytes += 1) {
        const torn = { ...op, bytes: op.bytes.subarray(0, bytes) };
        const files = afterPowerCut([...story.ops.slice(0, index), torn], () => true);
        await reopen(createDisk(files), story, index, `cut at byte ${bytes} of operation ${index}`);
        cuts += 1;
      }
    }
    assert.ok(cuts > 2000, `${cuts} cuts`);
  });

  it('shows only what is durable after a crash of the process', async () => {
    const story = await live();
    for (let cut = 0; cut <= story.ops.length; cut += 1) {
      const disk = createDisk(story.ops.slice(0, cut));
      const register = await openRegister(disk);
      const shown = new Map(register.values);
      checkPromises(shown, story, cut, `crash after operation ${cut}`);
      const cutAtOnce = await openRegister(createDisk(afterPowerCut(disk.ops, () => false)));
      assert.deepEqual(cutAtOnce.values, shown, `crash after operation ${cut}, then a power cut`);
      await register.put('after', 1);
      await register.state.close();
      const later = await openRegister(createDisk(afterPowerCut(disk.ops, () => false)));
      assert.deepEqual(later.values, new Map([...shown, ['after', 1]]), `crash after operation ${cut}, then a save`);
    }
  });

  it('uses the generation before one that a disk lost although it had synced it', async () => {
    const story = await live();
    let lost = 0;
    for (const [index, op] of story.ops.entries()) {
      if (op.kind !== 'sync-directory') continue;
      const ops = story.ops.slice(0, index + 1);
      const newest = ops.findLast((each) => each.kind === 'write');
      // The names are there; of the data that was written last, a part.
      const disk = createDisk(
        afterPowerCut(
          ops.filter((each) => each.kind !== 'sync' || each.inode !== newest?.inode),
          (each) => each !== newest || ((byte) => byte < 40),
        ),
      );
      const files = disk.visible();
      if (!files.get('/state/register')?.includes(0)) continue;
      lost += 1;
      const register = await openRegister(disk);
      const how = `operation ${index}`;
      assert.match(register.state.damage ?? '', /\/state\/register is damaged; .*\/state\/register\.damaged now$/, how);
      const before = files.has('/state/register.previous');
      if (before) assert.ok(register.values.size > 0, how);
      await register.put('after', 1);
      assert.equal((await openRegister(disk)).state.damage, undefined, how);
    }
    assert.ok(lost > 20, `${lost}`);
  });

  it('always keeps a damaged file while it is replaced', async () => {
    const disk = createDisk();
    const register = await openRegister(disk);
    for (const key of ['a', 'b', 'c']) await register.put(key, 1);
    const files = disk.visible();
    const bad = Buffer.from(files.get('/state/register') ?? '');
    bad[bad.length - 5] = 0x21;
    const damaged = createDisk(files.set('/state/register', bad));
    const start = damaged.ops.length;
    await openRegister(damaged);
    for (let cut = start; cut <= damaged.ops.length; cut += 1) {
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
