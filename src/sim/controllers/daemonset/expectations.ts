import type { Clock } from '../../../runtime/index.ts';

// After this the watch is taken to have lost something, and the DaemonSet is looked at anew.
const FORGOTTEN_AFTER_MS = 300_000;

/** Creations and deletions by key that a watch has not told of yet. */
export const createExpectations = (clock: Clock) => {
  const pending = new Map<string, { creations: number; deletions: number; at: number }>();
  const lower = (key: string, creations: number, deletions: number): void => {
    const found = pending.get(key);
    if (!found) return;
    found.creations -= creations;
    found.deletions -= deletions;
  };
  return {
    expect: (key: string, creations: number, deletions: number): void =>
      void pending.set(key, { creations, deletions, at: clock.now() }),
    created: (key: string, count = 1): void => lower(key, count, 0),
    deleted: (key: string): void => lower(key, 0, 1),
    forget: (key: string): void => void pending.delete(key),
    satisfied(key: string): boolean {
      const found = pending.get(key);
      if (!found) return true;
      return (found.creations <= 0 && found.deletions <= 0) || clock.now() - found.at > FORGOTTEN_AFTER_MS;
    },
  };
};
export type Expectations = ReturnType<typeof createExpectations>;
