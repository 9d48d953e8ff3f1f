import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../runtime/index.ts';
import type { ResourceAttributes, Reviews, UserInfo } from './reviews.ts';

/** How long an answer of the API server is used again: a right or a token that was taken away is noticed after this time. */
export const ANSWER_MS = 30_000;
const MOST_ANSWERS = 10_000;
const MOST_CALLERS = 2_000;

/** What one user may see. Rejects when the API server does not answer. */
export interface Access {
  /** Rollouts of a kind, `ds` or `ads`, in a namespace. */
  maySee(namespace: string, kind: string): Promise<boolean>;
  mayListNodes(): Promise<boolean>;
}

export interface Caller {
  token: string;
  user: UserInfo;
  access: Access;
}

interface Answer<T> {
  at: number;
  value: Promise<T>;
}

/** Answers by question, for a while. Those who ask at the same time share one; failures are forgotten. */
const createAnswers = <T>(clock: Pick<Clock, 'now'>, most: number) => {
  const known = new Map<string, Answer<T>>();
  return {
    fresh(key: string): Promise<T> | undefined {
      const answer = known.get(key);
      return answer && Math.abs(clock.now() - answer.at) < ANSWER_MS ? answer.value : undefined;
    },
    last: (key: string): Promise<T> | undefined => known.get(key)?.value,
    put(key: string, value: Promise<T>): Promise<T> {
      const answer = { at: clock.now(), value };
      known.delete(key);
      known.set(key, answer);
      for (const oldest of known.keys()) {
        if (known.size <= most) break;
        known.delete(oldest);
      }
      const forget = (): void => {
        if (known.get(key) === answer) known.delete(key);
      };
      value.catch(forget);
      return value;
    },
    remove: (key: string): void => void known.delete(key),
  };
};

/** Reading these in a namespace is what the page shows of a rollout; the details of a node are read by the caller. */
const shownOf = (kind: string): readonly ResourceAttributes[] => [
  { verb: 'list', group: 'edgeset.io', resource: 'daemonrollouts' },
  { verb: 'list', group: kind === 'ads' ? 'apps.kruise.io' : 'apps', resource: 'daemonsets' },
  { verb: 'list', group: '', resource: 'pods' },
];

const createAccess = (user: UserInfo, reviews: Reviews, clock: Pick<Clock, 'now'>): Access => {
  const answers = createAnswers<boolean>(clock, MOST_ANSWERS);
  const ask = (attributes: ResourceAttributes): Promise<boolean> => {
    const key = `${attributes.group}/${attributes.resource}/${attributes.namespace ?? ''}`;
    return answers.fresh(key) ?? answers.put(key, reviews.isAllowed(user, attributes));
  };
  return {
    async maySee(namespace, kind) {
      // Who may read all namespaces is asked about once, not for each of them.
      for (const attributes of shownOf(kind))
        if (!(await ask(attributes)) && !(await ask({ ...attributes, namespace }))) return false;
      return true;
    },
    mayListNodes: () => ask({ verb: 'list', group: '', resource: 'nodes' }),
  };
};

export interface Callers {
  /** Undefined for a token that the API server does not accept. Rejects when it does not answer. */
  of(token: string): Promise<Caller | undefined>;
  /** Whether `of` responds without asking the API server. */
  isKnown(token: string): boolean;
}

/** Who sends a token, and what they may see, as the API server said within the last 30 s. */
export const createCallers = (reviews: Reviews, clock: Pick<Clock, 'now'>): Callers => {
  const answers = createAnswers<Caller | undefined>(clock, MOST_CALLERS);
  const keyOf = (token: string): string => createHash('sha256').update(token).digest('base64');
  const review = async (token: string, key: string, before: Caller | undefined): Promise<Caller | undefined> => {
    const user = await reviews.userOf(token);
    if (!user) {
      answers.remove(key);
      return undefined;
    }
    // The same user keeps what is known of their rights.
    const access = isDeepStrictEqual(user, before?.user) ? before?.access : undefined;
    return { token, user, access: access ?? createAccess(user, reviews, clock) };
  };
  return {
    isKnown: (token) => answers.fresh(keyOf(token)) !== undefined,
    async of(token) {
      const key = keyOf(token);
      const fresh = answers.fresh(key);
      if (fresh) return fresh;
      const before = await answers.last(key)?.catch(() => undefined);
      return answers.fresh(key) ?? answers.put(key, review(token, key, before));
    },
  };
};
