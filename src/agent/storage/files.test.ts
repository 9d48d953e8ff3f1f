import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { systemClock } from '../../runtime/index.ts';
import { StorageError } from './errors.ts';
import { openRegisterIn, type Register } from './testing/register.ts';

const base = mkdtempSync(path.join(tmpdir(), 'edgeset-durable-'));
after(() => rmSync(base, { recursive: true, force: true }));

let dirs = 0;
const newDir = (): string => {
  dirs += 1;
  return path.join(base, `d${dirs}`, 'decisions');
};

const open = (dir: string): Promise<Register> => openRegisterIn({ dir });

const child = path.join(import.meta.dirname, 'testing', 'save-until-killed.ts');

/** Runs the saving process until it has acknowledged `count` numbers, kills it, and returns the last one. */
const runAndKill = async (dir: string, first: number, count: number): Promise<number> => {
  const running = spawn(process.execPath, [child, dir, String(first)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = new Promise((resolve) => running.once('close', resolve));
  let said = '';
  running.stdout.on('data', (data: Buffer) => {
    said += data.toString();
    if (said.split('\n').length > count) running.kill('SIGKILL');
  });
  await closed;
  return Number(said.trim().split('\n').at(-1));
};

describe('a durable state on a real file system', () => {
  it('creates a directory and files that only its user can read', async () => {
    const dir = newDir();
    const register = await open(dir);
    await register.put('a', 1);
    assert.equal(statSync(dir).mode & 0o777, 0o700);
    assert.equal(statSync(path.dirname(dir)).mode & 0o777, 0o700);
    assert.equal(statSync(path.join(dir, 'register')).mode & 0o777, 0o600);
    await register.state.close();
    assert.deepEqual(readdirSync(dir), ['register']);
    chmodSync(dir, 0o755);
    const again = await open(dir);
    assert.equal(again.values.get('a'), 1);
    assert.equal(statSync(dir).mode & 0o777, 0o700);
    await again.state.close();
  });

  it('refuses a directory that other users can write to', async () => {
    const dir = newDir();
    mkdirSync(path.dirname(dir), { recursive: true });
    chmodSync(path.dirname(dir), 0o777);
    await assert.rejects(open(dir), { code: 'Unsafe' });
    const file = newDir();
    mkdirSync(path.dirname(file));
    writeFileSync(file, '');
    await assert.rejects(open(file), { code: 'Denied' });
  });

  it('lets only one process use a directory, also with a long path, until it is closed', async () => {
    for (const dir of [newDir(), path.join(newDir(), 'x'.repeat(120))]) {
      const register = await open(dir);
      await assert.rejects(open(dir), { code: 'Locked' });
      await register.put('a', 1);
      await register.state.close();
      const next = await open(dir);
      assert.equal(next.values.get('a'), 1);
      await next.state.close();
    }
  });

  it('reads everything that the previous process wrote', async () => {
    const dir = newDir();
    const register = await open(dir);
    let tried = 0;
    let next: Awaited<ReturnType<typeof open>> | undefined;
    const end = systemClock.now() + 10_000;
    const handOver = async (): Promise<void> => {
      while (!next) {
        assert.ok(systemClock.now() < end, 'the next one gets the lock');
        next = await open(dir).catch((error: unknown) => {
          assert.ok(error instanceof StorageError && error.code === 'Locked');
          tried += 1;
          return undefined;
        });
      }
    };
    const waiting = handOver();
    for (let value = 1; value <= 50; value += 1) await register.put('a', value);
    await register.state.close();
    await waiting;
    assert.ok(tried > 0);
    assert.equal(next?.values.get('a'), 50);
    await next?.state.close();
  });

  it('writes nothing after its lock was taken over', async () => {
    const dir = newDir();
    const register = await open(dir);
    rmSync(path.join(dir, 'lock'));
    const other = await open(dir);
    await assert.rejects(register.put('a', 1), { code: 'Locked' });
    await register.state.close();
    await other.put('a', 2);
    await assert.rejects(open(dir), { code: 'Locked' }, 'closing the first one left the lock of the other');
    await other.state.close();
  });

  it('keeps everything that a killed process acknowledged, repeatedly, and passes the lock to the next', async () => {
    const dir = newDir();
    let first = 1;
    for (let round = 0; round < 8; round += 1) {
      const last = await runAndKill(dir, first, 3 + round * 7);
      const register = await open(dir);
      const found = Math.max(...register.values.values());
      assert.ok(found === last || found === last + 1, `said ${last}, found ${found}`);
      for (const value of [found, found - 1, found - 2].filter((number) => number >= 1))
        assert.equal(register.values.get(`k${value % 3}`), value);
      assert.equal(register.state.damage, undefined);
      await register.state.close();
      first = found + 1;
    }
  });
});
