import { createHash } from 'node:crypto';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Bearer tokens. There is no authorization: every authenticated user may do everything. */
export interface TokenStore {
  /** Issues a service account token that expires at `expiresAt` (ms). */
  issue(account: string, expiresAt: number): string;
  add(token: string, user: User): void;
  find(token: string, now: number): User | undefined;
}

const groupsOf = (account: string): string[] => {
  const [, , namespace] = account.split(':');
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
};

export const createTokenStore = (random: () => number): TokenStore => {
  const users = new Map<string, { user: User; expiresAt: number }>();
  // Looked up by hash, so that timing reveals nothing about the tokens.
  const hash = (token: string): string => createHash('sha256').update(token).digest('hex');
  const put = (token: string, user: User, expiresAt: number): void => void users.set(hash(token), { user, expiresAt });
  return {
    issue(account, expiresAt) {
      let token = 'edgeset-';
      while (token.length < 40) token += Math.floor(random() * 36).toString(36);
      put(token, { name: account, groups: groupsOf(account) }, expiresAt);
      return token;
    },
    add: (token, user) => put(token, user, Infinity),
    find(token, now) {
      const found = users.get(hash(token));
      return found && found.expiresAt > now ? found.user : undefined;
    },
  };
};
