import { type Env, silentLogger, systemClock } from '../../../runtime/index.ts';
import { type DurableState, type DurableStateOptions, openDurableState } from '../durable-state.ts';
import type { Disk } from './disk.ts';

export const testEnv: Env = { clock: systemClock, random: () => 0.5, log: silentLogger };

/** A state that is easy to check: each key has the number that was written last. */
export interface Register {
  readonly values: ReadonlyMap<string, number>;
  /** What is shown changes once this resolves. */
  put(key: string, value: number): Promise<void>;
  state: DurableState<[string, number][]>;
}

const parse = (value: unknown): [string, number][] => {
  const isEntry = (entry: unknown): boolean =>
    Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number';
  if (!Array.isArray(value) || !value.every(isEntry)) throw new Error('it holds no numbers');
  return value as [string, number][];
};

export const openRegisterIn = async (
  where: Pick<DurableStateOptions<unknown>, 'dir' | 'files' | 'lock'>,
): Promise<Register> => {
  const state = await openDurableState({ ...where, name: 'register', env: testEnv, parse });
  let values = new Map(state.initial);
  return {
    state,
    get values() {
      return values;
    },
    async put(key, value) {
      const changed = new Map([...values, [key, value]]);
      await state.save([...changed]);
      values = changed;
    },
  };
};

const noLock = () => Promise.resolve({ held: () => Promise.resolve(true), release: () => Promise.resolve() });

export const openRegister = (files: Disk): Promise<Register> => openRegisterIn({ dir: '/state', files, lock: noLock });
