import type { Secret } from 'kubernetes-types/core/v1.d.ts';
import type { RegistryLogin } from './cri/client.ts';

/** Docker's own registry, as `docker login` files it. */
const DEFAULT_REGISTRY = 'index.docker.io';

interface Entry {
  /** `host[:port][/path]`, with `*` and `?` in the host. */
  key: string;
  login: RegistryLogin;
}

export interface Keyring {
  /** Logins for `registry/path`, the most exact first; none means to pull without. */
  lookUp(repository: string): readonly RegistryLogin[];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** `auth` is base64 of `username:password` and wins over the two fields of those names. */
const loginOf = (entry: Record<string, unknown>): RegistryLogin | undefined => {
  const auth = textOf(entry.auth).trim();
  if (auth === '') return { username: textOf(entry.username), password: textOf(entry.password) };
  const decoded = Buffer.from(auth, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon < 0 ? undefined : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
};

/** Docker's older entries are URLs that end in the version of the registry's API. */
const keyOf = (location: string): string => {
  const [, host = '', path = ''] = /^(?:https?:\/\/)?([^/]*)(.*)$/.exec(location) ?? [];
  const effective = /^\/v[12]\//.test(path) ? path.slice(3) : path;
  return effective === '/' ? host : host + effective;
};

const parseAuths = (type: string | undefined, data: Readonly<Record<string, string>>): unknown => {
  const field = { 'kubernetes.io/dockerconfigjson': '.dockerconfigjson', 'kubernetes.io/dockercfg': '.dockercfg' }[
    type ?? ''
  ];
  const encoded = field === undefined ? undefined : data[field];
  if (field === undefined || encoded === undefined) return undefined;
  const parsed: unknown = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'));
  return field === '.dockercfg' || !isRecord(parsed) ? parsed : (parsed.auths ?? {});
};

/** What a pull secret holds. The problem names no value of the secret. */
export const entriesOf = (secret: Secret): { entries: readonly Entry[]; problem?: string } => {
  let auths: unknown;
  try {
    auths = parseAuths(secret.type, secret.data ?? {});
  } catch {
    return { entries: [], problem: 'is not valid JSON' };
  }
  if (!isRecord(auths))
    return { entries: [], problem: 'is no pull secret (kubernetes.io/dockerconfigjson or kubernetes.io/dockercfg)' };
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

const glob = (pattern: string): RegExp => {
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
};

/**
 * As the kubelet decides it: the same port, as many parts of the host's name, each matching, and the key's path a prefix
 * of the repository's. So a login never reaches a registry that its secret does not name.
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
    wanted.parts.every((part, index) => glob(part).test(actual.parts[index] ?? ''))
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
