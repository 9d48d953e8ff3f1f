import type { KubeClient } from '../kube/index.ts';
import type { PolicyError } from '../rollout/index.ts';
import { backoffMs, type Clock, sleep, untilAborted } from '../runtime/index.ts';
import type { SecretUse } from './judge.ts';
import { readSecrets, SecretError, secretName } from './secrets.ts';
import type { Problem } from './types.ts';

export interface SecretReviewOptions {
  client: KubeClient;
  clock: Clock;
  /** What the plans that are in use need. */
  needed: () => Iterable<SecretUse>;
  /** A Secret is known, or what is wrong with one has changed. */
  changed: () => void;
}

/** Until a Secret can be used: nobody may watch all Secrets. */
const REREAD = { baseMs: 1_000, maxMs: 30_000 };
/** Before that, nothing is known of the Secret, and its plan holds. */
const TIMEOUT_MS = 5_000;

interface Entry {
  /** Undefined: not read yet. */
  verdict: Problem | 'usable' | undefined;
  following: boolean;
}

const keyOf = ({ namespace, name, what }: SecretUse): string => `${namespace}/${name} ${what}`;

/**
 * Judges the Secrets of checks when their plan is read. One that can't be used is read again, with a back-off, until it can be
 * or no plan needs it.
 */
export const createSecretReview = ({ client, clock, needed, changed }: SecretReviewOptions) => {
  const entries = new Map<string, Entry>();
  let running: AbortSignal | undefined;
  const following = new Set<Promise<void>>();

  const read = async ({ namespace, name, what }: SecretUse, before: Entry['verdict'], signal: AbortSignal) => {
    try {
      const wanted = what === 'credentials' ? { credentials: { secretName: name } } : { tls: { caSecretName: name } };
      await readSecrets(client, namespace, wanted, { signal, timeoutMs: TIMEOUT_MS });
      return 'usable';
    } catch (error) {
      if (error instanceof SecretError) return error.found;
      // The API server did not answer: what is known of the Secret stays so.
      const why = error instanceof Error ? error.message : String(error);
      return before ?? { problem: `cannot be read (${why})`, cure: 'if this lasts, see the log of the manager' };
    }
  };

  const isNeeded = (key: string): boolean => Iterator.from(needed()).some((use) => keyOf(use) === key);

  const follow = async (use: SecretUse, entry: Entry, signal: AbortSignal): Promise<void> => {
    const key = keyOf(use);
    for (let failures = 1; ; failures += 1) {
      const verdict = await read(use, entry.verdict, signal);
      if (signal.aborted) return;
      const before = JSON.stringify(entry.verdict);
      entry.verdict = verdict;
      if (before !== JSON.stringify(verdict)) changed();
      if (verdict === 'usable') return;
      await sleep(clock, backoffMs(failures, REREAD), signal).catch(() => undefined);
      if (signal.aborted) return;
      if (isNeeded(key)) continue;
      entries.delete(key);
      return;
    }
  };

  const start = (use: SecretUse, entry: Entry): void => {
    if (!running || running.aborted || entry.following) return;
    entry.following = true;
    const run: Promise<void> = follow(use, entry, running).finally(() => {
      entry.following = false;
      following.delete(run);
    });
    following.add(run);
  };

  return {
    /** What is wrong with them; undefined while one of them was not read yet. */
    errorsOf(uses: readonly SecretUse[]): PolicyError[] | undefined {
      const errors: PolicyError[] = [];
      let known = true;
      for (const use of uses) {
        const { field, namespace, name } = use;
        const key = keyOf(use);
        const entry = entries.get(key) ?? { verdict: undefined, following: false };
        entries.set(key, entry);
        if (entry.verdict === undefined) {
          known = false;
          start(use, entry);
        } else if (entry.verdict !== 'usable')
          errors.push({ field, value: secretName(namespace, name), ...entry.verdict });
      }
      return known ? errors : undefined;
    },

    /** A plan has changed: its Secrets are read anew if it is in use. Until then, what was known of them counts. */
    review(uses: readonly SecretUse[]): void {
      const wanted = new Set(Iterator.from(needed()).map(keyOf));
      for (const [key, entry] of entries) if (!wanted.has(key) && !entry.following) entries.delete(key);
      for (const use of uses) {
        const entry = entries.get(keyOf(use));
        if (entry) start(use, entry);
      }
    },

    /** Reads until the signal aborts. */
    async run(signal: AbortSignal): Promise<void> {
      running = signal;
      for (const use of needed()) this.errorsOf([use]);
      await untilAborted(signal);
      await Promise.all(following);
    },
  };
};
export type SecretReview = ReturnType<typeof createSecretReview>;
