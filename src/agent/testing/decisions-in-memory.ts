import type { Env } from '../../runtime/index.ts';
import { type DecisionStore, openDecisionStore } from '../decisions/index.ts';
import { createDisk, type Disk } from '../storage/testing/index.ts';

/** The agent's own store, on a disk in memory. */
export const openDecisionsOn = (disk: Disk, env: Env): Promise<DecisionStore> => {
  const lock = { held: () => Promise.resolve(true), release: () => Promise.resolve() };
  return openDecisionStore({ dir: '/state', env, disk: { files: disk, lock: () => Promise.resolve(lock) } });
};

export const openDecisionsInMemory = (env: Env): Promise<DecisionStore> => openDecisionsOn(createDisk(), env);
