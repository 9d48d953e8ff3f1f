import { createHash, generateKeySync } from 'node:crypto';
import type { Clock } from '../../runtime/index.ts';
import { createShares } from '../shares.ts';

/** As long as a working day, if the token allows it. */
export const SESSION_MS = 8 * 3_600_000;
const BOUNDS = { most: 1_000, mostOfOne: 50 };

/** A namespace and a kind of DaemonSet, `ds` or `ads`. */
export interface Group {
  namespace: string;
  kind: string;
}

/** Who shares what the dashboard grants: who may create ServiceAccounts in a namespace has as many users as they like. */
export const holderOf = (username: string): string =>
  /^system:serviceaccount:[^:]+(?=:[^:]+$)/.exec(username)?.[0] ?? username;

/** When the token says that it expires, epoch ms. Only for a token that the API server accepts; of others, it is anybody's word. */
const expiryOf = (token: string): number => {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      exp?: unknown;
    } | null;
    return typeof claims?.exp === 'number' ? claims.exp * 1_000 : Number.POSITIVE_INFINITY;
  } catch {
    // No JWT.
    return Number.POSITIVE_INFINITY;
  }
};

export interface Session {
  readonly token: string;
  /** What its user may see. */
  readonly seen: Group;
  /** Epoch ms. */
  readonly expiresAt: number;
  /** Aborts when the session ends. */
  readonly signal: AbortSignal;
  reviewed(): void;
  end(): void;
}

export interface Sessions {
  /** Without those that have expired. */
  readonly size: number;
  /** Returns the new session with its ID, which nobody can guess; undefined if the token has expired. */
  open(token: string, username: string, seen: Group): { id: string; session: Session } | undefined;
  find(id: string): Session | undefined;
  end(id: string): void;
  /** Those that were neither opened nor reviewed for this long, the longest first. Call `reviewed` of those that may stay. */
  stale(forMs: number): readonly Session[];
}

interface Kept extends Session {
  holder: string;
  reviewedAt: number;
}

/**
 * Sessions, in memory only: they end with the process. Kept by a digest, so that looking one up tells nothing about IDs. When there
 * are too many, who has most of them loses the one that is unused for longest: nobody can use up what others need.
 */
export const createSessions = (clock: Pick<Clock, 'now'>): Sessions => {
  const kept = new Map<string, Kept>();
  const shares = createShares<Kept>(BOUNDS);
  const keyOf = (id: string): string => createHash('sha256').update(id).digest('base64');
  const removeExpired = (): void => {
    for (const session of kept.values()) if (session.expiresAt <= clock.now()) session.end();
  };
  return {
    get size() {
      removeExpired();
      return kept.size;
    },
    open(token, username, seen) {
      removeExpired();
      const now = clock.now();
      const expiresAt = Math.min(now + SESSION_MS, expiryOf(token));
      if (expiresAt <= now) return undefined;
      const holder = holderOf(username);
      shares.victim(holder)?.item.end();
      const id = generateKeySync('hmac', { length: 256 }).export().toString('base64url');
      const stop = new AbortController();
      const key = keyOf(id);
      const session: Kept = {
        holder,
        token,
        seen,
        expiresAt,
        reviewedAt: now,
        signal: stop.signal,
        reviewed: () => void (session.reviewedAt = clock.now()),
        end(): void {
          kept.delete(key);
          shares.drop(holder, session);
          stop.abort();
        },
      };
      kept.set(key, session);
      shares.use(holder, session);
      return { id, session };
    },
    find(id) {
      const session = kept.get(keyOf(id));
      if (session === undefined) return undefined;
      if (session.expiresAt > clock.now()) shares.use(session.holder, session);
      else session.end();
      return session.signal.aborted ? undefined : session;
    },
    end: (id) => kept.get(keyOf(id))?.end(),
    stale(forMs) {
      removeExpired();
      const since = ({ reviewedAt }: Kept): number => Math.abs(clock.now() - reviewedAt);
      return [...kept.values()].filter((one) => since(one) >= forMs).toSorted((a, b) => since(b) - since(a));
    },
  };
};
