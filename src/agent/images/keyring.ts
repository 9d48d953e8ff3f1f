import type { PodSpec, Secret } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, secrets, serviceAccounts } from '../../kube/index.ts';
import type { RegistryLogin } from './cri/client.ts';

/** Docker Hub, as `docker login` records it. */
const DEFAULT_REGISTRY = 'index.docker.io';

interface Entry {
  /** `host[:port][/path]`, with `*` and `?` in the host. */
  key: string;
  login: RegistryLogin;
}

export interface Keyring {
  /** Logins for `registry/path`, the most specific first; empty means to pull without a login. */
  lookUp(repository: string): readonly RegistryLogin[];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** `auth` is base64 of `username:password` and takes precedence over the fields `username` and `password`. */
const loginOf = (entry: Record<string, unknown>): RegistryLogin | undefined => {
  const auth = textOf(entry.auth).trim();
  if (auth === '') return { username: textOf(entry.username), password: textOf(entry.password) };
  const decoded = Buffer.from(auth, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon < 0 ? undefined : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
};

/** Older entries of Docker are URLs that end with the version of the registry API. */
const keyOf = (location: string): string =>
  location
    .replace(/^https?:\/\//, '')
    .replace(/^([^/]*)\/v[12]\//, '$1/')
    .replace(/^([^/]*)\/$/, '$1');

const parseAuths = (type: string | undefined, data: Readonly<Record<string, string>>): unknown => {
  const field = { 'kubernetes.io/dockerconfigjson': '.dockerconfigjson', 'kubernetes.io/dockercfg': '.dockercfg' }[
    type ?? ''
  ];
  const encoded = field === undefined ? undefined : data[field];
  if (field === undefined || encoded === undefined) return undefined;
  const parsed: unknown = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'));
  return field === '.dockercfg' || !isRecord(parsed) ? parsed : (parsed.auths ?? {});
};

/** Parses a pull secret. The problem never contains a value of the secret. */
export const entriesOf = (secret: Secret): { entries: readonly Entry[]; problem?: string } => {
  let auths: unknown;
  try {
    auths = parseAuths(secret.type, secret.data ?? {});
  } catch {
    return { entries: [], problem: 'is not valid JSON' };
  }
  if (!isRecord(auths))
    return { entries: [], problem: 'is not a pull secret (kubernetes.io/dockerconfigjson or kubernetes.io/dockercfg)' };
  const entries: Entry[] = [];
  for (const [location, entry] of Object.entries(auths)) {
    const login = isRecord(entry) ? loginOf(entry) : undefined;
    if (!login) return { entries, problem: 'has an entry whose auth is not base64 of username:password' };
    entries.push({ key: keyOf(location), login });
  }
  return { entries };
};

const splitPort = (host: string): { parts: string[]; port: string } => {
  const [, name = '', port = ''] = /^(.*?)(?::(\d*))?$/.exec(host) ?? [];
  return { parts: name.split('.'), port };
};

/** Whether the pattern's `*` and `?` stand for the rest of the text. */
const isLike = (text: string, pattern: string): boolean => {
  // Where the last star is, and how far into the text it reaches.
  let star = -1;
  let reached = 0;
  let at = 0;
  for (let next = 0; next < text.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      reached = next;
    } else if (pattern[at] === '?' || pattern[at] === text[next]) {
      at += 1;
      next += 1;
    } else if (star >= 0) {
      at = star + 1;
      next = ++reached;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(at));
};

/**
 * The kubelet's rule: the ports are equal, the host names have the same number of parts and each part matches, and the key's
 * path is a prefix of the repository's. A login is therefore never sent to a registry that its secret doesn't name.
 */
const matches = (key: string, repository: string): boolean => {
  const [keyHost = '', ...keyPath] = key.split('/');
  const [host = '', ...path] = repository.split('/');
  const wanted = splitPort(keyHost);
  const actual = splitPort(host);
  return (
    wanted.port === actual.port &&
    wanted.parts.length === actual.parts.length &&
    path.join('/').startsWith(keyPath.join('/')) &&
    wanted.parts.every((part, index) => isLike(actual.parts[index] ?? '', part))
  );
};

export const createKeyring = (entries: readonly Entry[]): Keyring => {
  const sorted = entries.toSorted((a, b) => (a.key === b.key ? 0 : a.key < b.key ? 1 : -1));
  return {
    lookUp(repository) {
      const found = sorted.filter(({ key }) => matches(key, repository));
      if (found.length === 0 && repository.startsWith('docker.io/'))
        return sorted.filter(({ key }) => key === DEFAULT_REGISTRY).map(({ login }) => login);
      return found.map(({ login }) => login);
    },
  };
};

export interface PullLogins {
  keyring: Keyring;
  /** Why secrets could not be used. Reported only when a pull fails, because most images need no secret. */
  problems: readonly string[];
}

const whyNot = (error: unknown): string => {
  if (isKubeError(error, 'NotFound')) return 'does not exist';
  if (isKubeError(error, 'Forbidden', 'Unauthorized')) return 'cannot be read: the agent is not allowed to';
  return 'could not be read: the API server did not answer';
};

/** Reads the logins from a pod's pull secrets. Like the kubelet, it continues without a secret that it can't read. */
export const readPullLogins = async (
  client: KubeClient,
  namespace: string,
  spec: PodSpec,
  signal: AbortSignal,
): Promise<PullLogins> => {
  const problems: string[] = [];
  const attempt = async <T>(what: string, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      signal.throwIfAborted();
      problems.push(`${what} ${whyNot(error)}`);
      return undefined;
    }
  };
  const named = async (): Promise<readonly string[]> => {
    const namesOf = (references: PodSpec['imagePullSecrets'] = []): string[] =>
      references.map(({ name }) => name ?? '').filter((name) => name !== '');
    // Kubernetes adds the service account's secrets only to a pod that names none itself.
    if (spec.imagePullSecrets?.length) return namesOf(spec.imagePullSecrets);
    const name = spec.serviceAccountName || 'default';
    const account = await attempt(`service account ${namespace}/${name}`, () =>
      client.get(serviceAccounts, { namespace, name }, { signal }),
    );
    return namesOf(account?.imagePullSecrets);
  };

  const entries: ReturnType<typeof entriesOf>['entries'][number][] = [];
  for (const name of new Set(await named())) {
    const what = `pull secret ${namespace}/${name}`;
    const secret = await attempt(what, () => client.get(secrets, { namespace, name }, { signal }));
    if (!secret) continue;
    const read = entriesOf(secret);
    entries.push(...read.entries);
    if (read.problem) problems.push(`${what} ${read.problem}`);
  }
  return { keyring: createKeyring(entries), problems };
};
