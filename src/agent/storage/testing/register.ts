import { type Env, silentLogger, systemClock } from '../../../runtime/index.ts';
import type { Journal, JournalState } from '../journal.ts';
import { openJournal } from '../journal.ts';
import type { Disk } from './disk.ts';

export const testEnv: Env = { clock: systemClock, random: () => 0.5, log: silentLogger };

/** A state that is easy to check: each key has the number that was written last. */
export interface Register extends JournalState {
  readonly values: ReadonlyMap<string, number>;
}

export const createRegister = (): Register => {
  const values = new Map<string, number>();
  return {
    values,
    apply(record) {
      if (typeof record !== 'object' || record === null || !('key' in record) || !('value' in record)) return false;
      if (typeof record.key !== 'string' || typeof record.value !== 'number') return false;
      values.set(record.key, record.value);
      return true;
    },
    snapshot: () => [...values].map(([key, value]) => ({ key, value })),
  };
};

export const openRegister = async (
  files: Disk,
  compactAtBytes = 400,
): Promise<{ journal: Journal; values: ReadonlyMap<string, number> }> => {
  const state = createRegister();
  const journal = await openJournal({
    dir: '/state',
    name: 'register',
    env: testEnv,
    state,
    compactAtBytes,
    files,
    lock: () => Promise.resolve({ held: () => Promise.resolve(true), release: () => Promise.resolve() }),
  });
  return { journal, values: state.values };
};
