import assert from 'node:assert/strict';
import { chown, mkdtemp, readdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createLogger, createVirtualClock, type Env } from '../../runtime/index.ts';
import { createStateFile } from './state-file.ts';

interface Value {
  words: string[];
}

const parse = (value: unknown): Value | undefined =>
  typeof value === 'object' && value !== null && 'words' in value ? (value as Value) : undefined;

describe('a state file', () => {
  let dir = '';
  const clock = createVirtualClock(0);
  const lines: string[] = [];
  const env: Env = {
    clock,
    random: () => 0.5,
    log: createLogger({ write: (line) => void lines.push(line), now: () => 0 }),
  };
  const at = () => createStateFile<Value>({ dir, name: 'state.json', env, parse });

  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'edgeset-state-'));
    lines.length = 0;
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('returns the saved value, and is readable by its owner only', async () => {
    const file = at();
    assert.equal(file.initial, undefined);
    file.save(() => ({ words: ['a', 'ü\n'] }));
    await file.flush();
    assert.deepEqual(at().initial, { words: ['a', 'ü\n'] });
    assert.equal((await stat(path.join(dir, 'state.json'))).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(dir), ['state.json']);
    assert.deepEqual(lines, []);
  });

  it('writes several changes once, and nothing if the value is unchanged', async () => {
    const file = at();
    let asked = 0;
    const value = (): Value => {
      asked += 1;
      return { words: ['same'] };
    };
    for (let call = 0; call < 100; call += 1) file.save(value);
    await clock.advance(1_499);
    assert.equal(asked, 0);
    await clock.advance(1);
    await file.flush();
    assert.equal(asked, 1);
    const written = (await stat(path.join(dir, 'state.json'))).mtimeMs;
    file.save(value);
    await file.flush();
    assert.equal((await stat(path.join(dir, 'state.json'))).mtimeMs, written);
  });

  it('ignores a file that is truncated or altered at any byte, with a warning', async () => {
    const file = at();
    file.save(() => ({ words: ['one', 'two'] }));
    await file.flush();
    const name = path.join(dir, 'state.json');
    const whole = await readFile(name);
    for (let length = 0; length < whole.length - 1; length += 1) {
      await truncate(name, length);
      assert.equal(at().initial, undefined, `cut at ${length}`);
      const altered = Buffer.from(whole);
      altered[length] = (altered[length] ?? 0) ^ 1;
      await writeFile(name, altered);
      assert.equal(at().initial, undefined, `altered at ${length}`);
      await writeFile(name, whole);
    }
    assert.ok(lines.every((line) => line.includes('damaged')) && lines.length > whole.length);
    assert.deepEqual(at().initial, { words: ['one', 'two'] });
  });

  it('ignores files and links of other users in its place', async () => {
    const file = at();
    file.save(() => ({ words: ['mine'] }));
    await file.flush();
    const [name, elsewhere] = [path.join(dir, 'state.json'), path.join(dir, 'elsewhere')];
    if (process.geteuid?.() === 0) {
      await chown(name, 4711, 0);
      assert.equal(at().initial, undefined, 'of another user');
      await chown(name, 0, 0);
    }
    await rename(name, elsewhere);
    await symlink(elsewhere, name);
    assert.equal(at().initial, undefined, 'a link');
    assert.ok(lines.length > 0 && lines.every((line) => line.includes('not a file owned by the user')));
    await writeFile(elsewhere, 'precious');
    await symlink(elsewhere, `${name}.new`);
    file.save(() => ({ words: ['new'] }));
    await file.flush();
    assert.deepEqual(at().initial, { words: ['new'] });
    assert.equal(await readFile(elsewhere, 'utf8'), 'precious');
  });

  it('is flushed once everything is on disk, also with concurrent flushes', async () => {
    const began: string[] = [];
    const ends: (() => void)[] = [];
    const files = {
      read: () => undefined,
      replace: (_file: string, text: string): Promise<void> => {
        began.push(text.split('\n')[1] ?? '');
        return new Promise((resolve) => void ends.push(resolve));
      },
    };
    const file = createStateFile<Value>({ dir, name: 'state.json', env, parse, files });
    const words = ['first', 'second'];
    const [first, second] = words.map((word) => {
      file.save(() => ({ words: [word] }));
      return file.flush();
    });
    let isFlushed = false;
    const third = file.flush().finally(() => {
      isFlushed = true;
    });
    await clock.advance(0);
    ends.shift()?.();
    await first;
    await clock.advance(0);
    assert.deepEqual([began.length, isFlushed], [2, false]);
    ends.shift()?.();
    await Promise.all([second, third]);
    assert.match(began.at(-1) ?? '', /second/);
  });

  it('retries if the disk fails, and loses nothing', async () => {
    await rm(dir, { recursive: true });
    await writeFile(dir, 'a file is in the way');
    const file = at();
    file.save(() => ({ words: ['kept'] }));
    await assert.rejects(file.flush());
    await rm(dir);
    await file.flush();
    assert.deepEqual(at().initial, { words: ['kept'] });
  });
});
