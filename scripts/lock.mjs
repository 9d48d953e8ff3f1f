// One at a time between processes: two installs in one folder delete each other's files. Plain JavaScript for Node 18.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const DEADLINE_MS = 10 * 60_000;
const POLL_MS = 200;

const holderIsAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

const readHolder = (lock) => {
  try {
    return Number(readFileSync(lock, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
};

const tryTake = (lock) => {
  mkdirSync(path.dirname(lock), { recursive: true });
  try {
    writeFileSync(lock, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
};

/**
 * Runs `work` while this process holds the file `lock`. A holder that died is succeeded by whoever first claims the
 * right to remove its lock: a claim is named after the dead process, so that nobody removes a successor's lock.
 */
export const withLock = async (lock, say, work) => {
  const giveUpAt = Date.now() + DEADLINE_MS;
  let waiting = false;
  while (!tryTake(lock)) {
    const holder = readHolder(lock);
    if (holder !== undefined && !holderIsAlive(holder)) {
      const claim = `${lock}.${holder}`;
      try {
        writeFileSync(claim, '', { flag: 'wx' });
        if (readHolder(lock) === holder) rmSync(lock, { force: true });
        rmSync(claim, { force: true });
        continue;
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      }
    }
    if (Date.now() > giveUpAt) {
      throw new Error(`${lock} has been held for ${DEADLINE_MS / 60_000} minutes; remove it if nothing runs.`);
    }
    if (!waiting) say(`waiting for another run (process ${holder ?? 'unknown'}) ...`);
    waiting = true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const release = () => {
    if (readHolder(lock) === process.pid) rmSync(lock, { force: true });
  };
  process.once('exit', release);
  try {
    return await work();
  } finally {
    release();
    process.removeListener('exit', release);
  }
};
