import type { ClusterConfig } from '../../../src/kube/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';

/** What the API server accepts, and what is mounted in every pod. They differ while something is rotated. */
export interface Credentials {
  /** The mounted file. */
  read(path: string): string;
  /** Whether the server accepts the Authorization header. */
  accepts(authorization: string | undefined): boolean;
  /** Whether the server's certificate is one of this authority. */
  isTrusted(authority: string | undefined): boolean;
  /** The server changes now; the mounted files follow later. `onEffect`: something was refused, or is used at last. */
  rotate(what: 'token' | 'authority', followMs: number, onEffect: () => void): void;
  /** The mounted files are those that the server accepts. */
  areCurrent(): boolean;
  recover(): void;
}

const TOKEN_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/token';
const AUTHORITY_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt';

/** As in a pod: the token and the authority are mounted files. */
export const inCluster: ClusterConfig = {
  server: 'https://embedded.invalid',
  namespace: 'default',
  source: 'the simulation',
  certificateAuthority: { from: 'file', path: AUTHORITY_FILE },
  insecureSkipTlsVerify: false,
  auth: { token: { from: 'file', path: TOKEN_FILE } },
};

const pem = (number: number): string => `-----BEGIN CERTIFICATE-----\n${number}\n-----END CERTIFICATE-----\n`;

export const createCredentials = (time: Clock): Credentials => {
  const current = { token: 1, authority: 1 };
  const mounted = { ...current };
  let onEffect: (() => void) | undefined;
  const recover = (): void => void Object.assign(mounted, current);
  const take = (isGood: boolean): boolean => {
    // A client that uses what was mounted last has read it again.
    onEffect?.();
    onEffect = undefined;
    return isGood;
  };
  return {
    read(path) {
      if (path === TOKEN_FILE) return `token-${mounted.token}`;
      if (path === AUTHORITY_FILE) return pem(mounted.authority);
      throw new Error(`${path} is not mounted`);
    },
    accepts: (authorization) => take(authorization === `Bearer token-${current.token}`),
    isTrusted: (authority) => take(authority === pem(current.authority)),
    rotate(what, followMs, effect) {
      onEffect = effect;
      current[what] += 1;
      if (followMs === 0) recover();
      else time.timer(followMs, recover);
    },
    areCurrent: () => mounted.token === current.token && mounted.authority === current.authority,
    recover,
  };
};
