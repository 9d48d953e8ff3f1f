import type { KubeClient } from '../kube/index.ts';
import type { PolicyError } from '../rollout/index.ts';
import { backoffMs, type Clock, sleep, untilAborted } from '../runtime/index.ts';
import { templateNameOf, templateProblem } from './analysis-spec.ts';
import type { CheckNeed } from './judge.ts';
import { readSecrets, SecretError, secretName } from './secrets.ts';
import type { Problem } from './types.ts';

export interface NeedReviewOptions {
  client: KubeClient;
  clock: Clock;
  /** What the plans that are in use need. */
  needed: () => Iterable<CheckNeed>;
  /** An object is known, or what is wrong with one has changed. */
  changed: () => void;
}

/** Until an object can be used: nobody may watch all Secrets, or templates. */
const REREAD = { baseMs: 1_000, maxMs: 30_000 };
/** Before that, nothing is known of the object, and its plan holds. */
const TIMEOUT_MS = 5_000;

interface Entry {
  /** Undefined: not read yet. */
  verdict: Problem | 'usable' | undefined;
  following: boolean;
}

const keyOf = ({ namespace, name, what }: CheckNeed): string => `${namespace}/${name} ${what}`;

/** The template; undefined for a Secret. */
const templateOf = ({ name, what }: CheckNeed): Parameters<typeof templateProblem>[1] | undefined =>
  what === 'template' || what === 'clusterTemplate' ? { name, isCluster: what === 'clusterTemplate' } : undefined;

export interface NeedReview {
  /** What is wrong with them; undefined while one of them was not read yet. */
  errorsOf(uses: readonly CheckNeed[]): PolicyError[] | undefined;
  /** A plan has changed: what it needs is read again if it is in use. Until then, what was known of them counts. */
  review(uses: readonly CheckNeed[]): void;
  /** Reads until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Judges the Secrets and templates of checks when their plan is read. One that can't be used is read again, with a back-off, until it can be
 * or no plan needs it.
 */
export const createNeedReview = ({ client, clock, needed, changed }: NeedReviewOptions): NeedReview => {
  const entries = new Map<string, Entry>();
  let running: AbortSignal | undefined;
  const following = new Set<Promise<void>>();

  const read = async (
    need: CheckNeed,
    before: Entry['verdict'],
    signal: AbortSignal,
  ): Promise<NonNullable<Entry['verdict']>> => {
    const { namespace = '', name, what } = need;
    const template = templateOf(need);
    const call = { signal, timeoutMs: TIMEOUT_MS };
    try {
      if (template) return (await templateProblem(client, template, namespace, call)) ?? 'usable';
      const wanted = what === 'credentials' ? { credentials: { secretName: name } } : { tls: { caSecretName: name } };
      await readSecrets(client, namespace, wanted, call);
      return 'usable';
    } catch (error) {
      if (error instanceof SecretError) return error.found;
      // The API server did not answer: what is known of the object stays so.
      const why = error instanceof Error ? error.message : String(error);
      return before ?? { problem: `cannot be read (${why})`, remedy: 'if this lasts, see the log of the manager' };
    }
  };

  const isNeeded = (key: string): boolean => Iterator.from(needed()).some((use) => keyOf(use) === key);

  const follow = async (use: CheckNeed, entry: Entry, signal: AbortSignal): Promise<void> => {
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

  const start = (use: CheckNeed, entry: Entry): void => {
    if (!running || running.aborted || entry.following) return;
    entry.following = true;
    const run: Promise<void> = follow(use, entry, running).finally(() => {
      entry.following = false;
      following.delete(run);
    });
    following.add(run);
  };

  return {
    errorsOf(uses) {
      const errors: PolicyError[] = [];
      let known = true;
      for (const use of uses) {
        const { field, namespace = '', name } = use;
        const template = templateOf(use);
        const key = keyOf(use);
        const entry = entries.get(key) ?? { verdict: undefined, following: false };
        entries.set(key, entry);
        if (entry.verdict === undefined) {
          known = false;
          start(use, entry);
        } else if (entry.verdict !== 'usable')
          errors.push({
            field,
            value: template ? templateNameOf(template, namespace) : secretName(namespace, name),
            ...entry.verdict,
          });
      }
      return known ? errors : undefined;
    },

    review(uses) {
      const wanted = new Set(Iterator.from(needed()).map(keyOf));
      for (const [key, entry] of entries) if (!wanted.has(key) && !entry.following) entries.delete(key);
      for (const use of uses) {
        const entry = entries.get(keyOf(use));
        if (entry) start(use, entry);
      }
    },

    async run(signal) {
      running = signal;
      for (const use of needed()) this.errorsOf([use]);
      await untilAborted(signal);
      await Promise.all(following);
    },
  };
};
