import type { Env } from '../runtime/index.ts';
import type { PullControl } from './pull-control.ts';
import type { PullView } from './pull-status.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Deletes pull pods: one that cannot be deleted is tried again at a growing distance, and holds no other up. */
export const createRemovals = ({ clock, log }: Env, writes: Pick<PullControl, 'remove'>) => {
  /** UIDs of those that are deleted, until their watch says so too. */
  const gone = new Set<string>();
  const waits = new Map<string, { since: number; forMs: number }>();
  return {
    /** It is deleted, whatever the watch shows. */
    isGone: (uid: string): boolean => gone.has(uid),
    /** When it may be tried; a time that is past for at once. */
    dueAt(uid: string, now: number): number {
      const wait = waits.get(uid);
      return wait && wait.since <= now ? wait.since + wait.forMs : 0;
    },
    /** The watch shows it no more. */
    forget(uid: string): void {
      gone.delete(uid);
      waits.delete(uid);
    },
    async remove(pull: PullView, signal: AbortSignal): Promise<void> {
      const { uid, namespace, name } = pull;
      // Before its watch can say so.
      gone.add(uid);
      try {
        await writes.remove(pull, signal);
        waits.delete(uid);
      } catch (error) {
        // Unless the watch has meanwhile said that it is gone: somebody else has deleted it.
        const stays = gone.delete(uid);
        signal.throwIfAborted();
        if (!stays) return;
        const forMs = Math.min(LONGEST_WAIT_MS, 2 * (waits.get(uid)?.forMs ?? FIRST_WAIT_MS / 2));
        waits.set(uid, { since: clock.now(), forMs });
        log.warn('a pull pod cannot be deleted', { namespace, pod: name, error, retryMs: forMs });
      }
    },
  };
};
