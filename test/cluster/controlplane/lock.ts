import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

const tryTake = async (file: string): Promise<boolean> => {
  try {
    await writeFile(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
};

/**
 * Runs `work` while no other process does so under the same file. A holder that died is stepped over. Two takers of a
 * dead one's lock may in theory both win: `work` must be harmless when it runs twice.
 */
export const withFileLock = async <T>(
  file: string,
  report: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> => {
  let told = false;
  while (!(await tryTake(file))) {
    const holder = Number(await readFile(file, 'utf8').catch(() => ''));
    if (holder > 0 && !isAlive(holder)) {
      await rm(file, { force: true });
      continue;
    }
    if (!told) report(`waiting for process ${holder} which builds the same`);
    told = true;
    await wait(500);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
};
