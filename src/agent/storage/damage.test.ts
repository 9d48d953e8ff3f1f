import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seal } from './files.ts';
import { createDisk, type Disk, diskError } from './testing/disk.ts';
import { openRegister } from './testing/register.ts';

const FILE = '/state/register';
const PREVIOUS = `${FILE}.previous`;
const ASIDE = `${FILE}.damaged`;

/** The files after three saves, with these in place of the written ones. */
const written = async (instead: Record<string, Buffer | undefined> = {}): Promise<Map<string, Buffer>> => {
  const disk = createDisk();
  const register = await openRegister(disk);
  for (const key of ['a', 'b', 'c']) await register.put(key, 1);
  await register.state.close();
  const files = disk.visible();
  for (const [name, bytes] of Object.entries(instead))
    if (bytes) files.set(name, bytes);
    else files.delete(name);
  return files;
};
const keysOn = async (disk: Disk): Promise<string> => [...(await openRegister(disk)).values.keys()].join('');

describe('a durable state with a damaged byte', () => {
  it('uses the generation before it, reports the damage, and keeps the file, for any byte', async () => {
    const files = await written();
    const good = files.get(FILE) ?? Buffer.alloc(0);
    for (let at = 0; at < good.length; at += 1) {
      const changes = [(byte: number) => byte ^ 1, (byte: number) => byte ^ 0x80, () => 0, () => 0x0a];
      const altered = changes.map((change) => {
        const bad = Buffer.from(good);
        bad[at] = change(bad[at] ?? 0);
        return bad;
      });
      for (const bad of [...altered, good.subarray(0, at)]) {
        if (bad.equals(good)) continue;
        const how = `byte ${at} of ${bad.length} is ${bad[at]}`;
        const disk = createDisk(new Map([...files, [FILE, bad]]));
        const register = await openRegister(disk);
        assert.equal([...register.values.keys()].join(''), 'ab', how);
        assert.equal(
          register.state.damage,
          `${FILE} is damaged; the generation before it is in use; the damaged file is ${ASIDE} now`,
          how,
        );
        assert.deepEqual(disk.visible().get(ASIDE), bad, how);
        await register.put('z', 9);
        const again = await openRegister(disk);
        assert.deepEqual(again.values, register.values, how);
        assert.equal(again.state.damage, undefined, how);
      }
    }
  });

  it('does not look at the generation before an intact one', async () => {
    const disk = createDisk(await written({ [PREVIOUS]: Buffer.from('rubbish') }));
    const register = await openRegister(disk);
    assert.equal(register.state.damage, undefined);
    assert.equal(await keysOn(disk), 'abc');
  });

  for (const [what, instead, kept] of [
    ['both generations are', { [FILE]: Buffer.from('x'), [PREVIOUS]: Buffer.from('y') }, 'x'],
    ['the only one is', { [FILE]: Buffer.from('x'), [PREVIOUS]: undefined }, 'x'],
    ['the one before is, and there is no other', { [FILE]: undefined, [PREVIOUS]: Buffer.from('y') }, 'y'],
  ] as const)
    it(`starts empty if ${what}, says so, and keeps a file`, async () => {
      const disk = createDisk(await written(instead));
      const register = await openRegister(disk);
      assert.equal(register.state.initial, undefined);
      assert.match(register.state.damage ?? '', /is damaged; nothing of it is in use/);
      assert.equal(disk.visible().get(ASIDE)?.toString(), kept);
      await register.put('z', 1);
      assert.equal(await keysOn(disk), 'z');
    });

  it('is one whose value makes no sense', async () => {
    const nonsense = Buffer.from(seal('{"version":1,"value":{"a":1}}'));
    const register = await openRegister(createDisk(await written({ [FILE]: nonsense })));
    assert.deepEqual([...register.values.keys()], ['a', 'b']);
    assert.match(register.state.damage ?? '', /is damaged/);
  });

  it('can be read while the disk has no space, and is saved once it has', async () => {
    const disk = createDisk(await written({ [FILE]: Buffer.from('x') }));
    disk.failure = (op) => (op.kind === 'write' ? diskError('ENOSPC') : undefined);
    const register = await openRegister(disk);
    assert.deepEqual([...register.values.keys()], ['a', 'b']);
    assert.match(register.state.trouble ?? '', /the disk is full/);
    await assert.rejects(register.put('z', 1), { code: 'NoSpace' });
    assert.equal(await keysOn(disk), 'ab');
    disk.failure = undefined;
    await register.put('z', 1);
    assert.equal(register.state.trouble, undefined);
    assert.equal(await keysOn(disk), 'abz');
    assert.equal(disk.visible().get(ASIDE)?.toString(), 'x');
  });

  it('is refused if a later version wrote it, and not changed', async () => {
    const files = await written({ [FILE]: Buffer.from(seal('{"version":2,"value":[]}')) });
    const disk = createDisk(files);
    await assert.rejects(openRegister(disk), { code: 'UnknownFormat', message: /run the version that wrote it/ });
    assert.deepEqual(disk.visible(), files);
  });
});
