import type { Logger } from '../runtime/index.ts';

/** Who is called after a change. */
export interface Listeners {
  /** Returns the function to unsubscribe. */
  add(listener: () => void): () => void;
  /** Calls all of them: one that throws keeps no other from hearing of the change, and not the caller from continuing. */
  notify(): void;
}

export const createListeners = (log: Logger, whose: string): Listeners => {
  const listeners = new Set<() => void>();
  return {
    add(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    notify() {
      for (const listener of listeners) {
        try {
          listener();
        } catch (error) {
          log.error('a listener failed', { whose, error });
        }
      }
    },
  };
};
