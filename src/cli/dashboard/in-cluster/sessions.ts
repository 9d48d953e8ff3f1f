import { createHash, generateKeySync } from 'node:crypto';
import type { Clock } from '../../../runtime/index.ts';

/** As long as a working day, whatever the token allows. */
export const SESSION_MS = 8 * 3_600_000;
const MOST_SESSIONS = 1_000;
/** Another one ends the oldest: nobody can use up what others need. */
const MOST_OF_USER = 10;

export interface Session {
  readonly token: string;
  readonly username: string;
  /** Aborts when the session ends. */
  readonly signal: AbortSignal;
}

export interface Sessions {
  /** Without those that have expired. */
  readonly size: number;
  /** Returns the new session's ID, which nobody can guess; undefined when there are too many sessions. */
  open(token: string, username: string): string | undefined;
  find(id: string): Session | undefined;
  end(id: string): void;
}

interface Kept extends Session {
  expiresAt: number;
  stop: AbortController;
}

/** Sessions, in memory only: they end with the process. Kept by a digest, so that looking one up tells nothing about IDs. */
export const createSessions = (clock: Pick<Clock, 'now'>): Sessions => {
  const kept = new Map<string, Kept>();
  const keyOf = (id: string): string => createHash('sha256').update(id).digest('base64');
  const remove = (key: string): void => {
    const session = kept.get(key);
    kept.delete(key);
    session?.stop.abort();
  };
  const removeExpired = (): void => {
    for (const [key, { expiresAt }] of kept) if (expiresAt <= clock.now()) remove(key);
  };
  return {
    get size() {
      removeExpired();
      return kept.size;
    },
    open(token, username) {
      removeExpired();
      const own = [...kept].filter(([, session]) => session.username === username).map(([key]) => key);
      for (const key of own.slice(0, Math.max(0, own.length + 1 - MOST_OF_USER))) remove(key);
      if (kept.size >= MOST_SESSIONS) return undefined;
      const id = generateKeySync('hmac', { length: 256 }).export().toString('base64url');
      const stop = new AbortController();
      kept.set(keyOf(id), { token, username, signal: stop.signal, stop, expiresAt: clock.now() + SESSION_MS });
      return id;
    },
    find(id) {
      const key = keyOf(id);
      const session = kept.get(key);
      if (session === undefined || session.expiresAt > clock.now()) return session;
      remove(key);
      return undefined;
    },
    end: (id) => remove(keyOf(id)),
  };
};
