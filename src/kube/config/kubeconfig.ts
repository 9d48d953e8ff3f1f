import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type * as z from 'zod/mini';
import { OptionError } from '../../runtime/index.ts';
import { parseYaml, YamlError } from '../../text/index.ts';
import {
  type Auth,
  type ClusterConfig,
  ConfigError,
  type ExecPlugin,
  type Impersonation,
  type Source,
} from './cluster-config.ts';
import {
  type ClusterEntry,
  clusterSchema,
  contextSchema,
  kubeconfigSchema,
  type UserEntry,
  userSchema,
} from './kubeconfig-schema.ts';
import type { ConfigOverrides } from './overrides.ts';

/** An entry, with the file that its relative paths refer to. */
interface Entry {
  file: string;
  /** Such as `users[2].user`, for messages. */
  field: string;
  content: unknown;
}

/** One or several files, merged as kubectl does: the first file that names something wins. */
export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
}

const check = <S extends z.ZodMiniType>(schema: S, content: unknown, file: string, field: string): z.infer<S> => {
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? [])
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('');
  // The issue's message names the expected type, never the value, which may be a secret.
  throw new ConfigError(`${`${field}${path}`.replace(/^\./, '')}: ${issue?.message ?? 'is invalid'}`, { file });
};

const readOne = async (
  file: string,
): Promise<{ file: string; content: z.infer<typeof kubeconfigSchema> } | undefined> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new ConfigError('cannot be read; correct its path or permissions', { file, cause });
  }
  let content: unknown;
  try {
    content = parseYaml(text) ?? {};
  } catch (error) {
    // Without the cause, which may quote a secret.
    if (error instanceof YamlError) throw new ConfigError(error.message, { file });
    throw error;
  }
  return { file, content: check(kubeconfigSchema, content, file, '') };
};

/** Reads and merges files, ignoring those that do not exist. Undefined when none exists. */
export const readKubeconfig = async (files: readonly string[]): Promise<Kubeconfig | undefined> => {
  const read = (await Promise.all(files.map((file) => readOne(resolve(file))))).filter((one) => one !== undefined);
  if (read.length === 0) return undefined;
  const collect = (
    list: 'clusters' | 'users' | 'contexts',
    inner: 'cluster' | 'user' | 'context',
  ): Map<string, Entry> => {
    const found = new Map<string, Entry>();
    for (const { file, content } of read) {
      content[list]?.forEach((entry: { name: string } & Record<string, unknown>, at) => {
        if (!found.has(entry.name))
          found.set(entry.name, { file, field: `${list}[${at}].${inner}`, content: entry[inner] ?? {} });
      });
    }
    return found;
  };
  return {
    files: read.map(({ file }) => file),
    currentContext: read.map(({ content }) => content['current-context']).find((name) => !!name) ?? undefined,
    clusters: collect('clusters', 'cluster'),
    users: collect('users', 'user'),
    contexts: collect('contexts', 'context'),
  };
};

/** Inline data wins over a file, as with kubectl. */
const source = (entry: Entry, data: string | null | undefined, path: string | null | undefined): Source | undefined => {
  if (data) return { from: 'text', text: Buffer.from(data, 'base64').toString('utf8') };
  if (path) return { from: 'file', path: resolve(dirname(entry.file), path) };
  return undefined;
};

const execPlugin = (entry: Entry, exec: NonNullable<UserEntry['exec']>, cluster: ClusterEntry): ExecPlugin => {
  const clusterConfig = cluster.extensions?.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.extension;
  return {
    apiVersion: exec.apiVersion,
    command: exec.command.includes('/') ? resolve(dirname(entry.file), exec.command) : exec.command,
    args: exec.args ?? [],
    env: exec.env ?? [],
    provideClusterInfo: exec.provideClusterInfo ?? false,
    interactiveMode: exec.interactiveMode ?? 'IfAvailable',
    ...(exec.installHint ? { installHint: exec.installHint } : {}),
    ...(clusterConfig === undefined ? {} : { clusterConfig }),
  };
};

const authOf = (entry: Entry, user: UserEntry, cluster: ClusterEntry): Auth => {
  const bad = (field: string, remedy: string): ConfigError =>
    new ConfigError(`${entry.field}.${field}: ${remedy}`, { file: entry.file });
  if (user['auth-provider'] !== undefined && user['auth-provider'] !== null)
    throw bad('auth-provider', 'was removed from Kubernetes; use an exec credential plugin of your provider instead');
  const cert = source(entry, user['client-certificate-data'], user['client-certificate']);
  const key = source(entry, user['client-key-data'], user['client-key']);
  if (cert && !key) throw bad('client-key', 'is required with a client certificate; add client-key or client-key-data');
  if (key && !cert)
    throw bad('client-certificate', 'is required with a client key; add client-certificate or client-certificate-data');
  // A token file is reread, so it wins over a token copied from it.
  const token: Source | undefined = user.tokenFile
    ? { from: 'file', path: resolve(dirname(entry.file), user.tokenFile) }
    : user.token
      ? { from: 'text', text: user.token }
      : undefined;
  if (user.password && !user.username) throw bad('username', 'is required with a password');
  return {
    ...(cert && key ? { certificate: { cert, key } } : {}),
    ...(token ? { token } : {}),
    ...(user.username ? { basic: { username: user.username, password: user.password ?? '' } } : {}),
    ...(user.exec ? { exec: execPlugin(entry, user.exec, cluster) } : {}),
  };
};

const impersonationOf = (entry: Entry, user: UserEntry): Impersonation | undefined => {
  const others = ['as-uid', 'as-groups', 'as-user-extra'] as const;
  if (!user.as) {
    const orphan = others.find((field) => user[field]);
    if (orphan)
      throw new ConfigError(`${entry.field}.${orphan}: requires "as", the user to impersonate`, { file: entry.file });
    return undefined;
  }
  return {
    user: user.as,
    groups: user['as-groups'] ?? [],
    extra: user['as-user-extra'] ?? {},
    ...(user['as-uid'] ? { uid: user['as-uid'] } : {}),
  };
};

const known = (names: Iterable<string>): string => [...names].join(', ') || 'none';

/** The cluster of context `wanted`, or of the current context, with the entries that flags name. Throws a `ConfigError`. */
export const selectContext = (
  config: Kubeconfig,
  wanted: string | undefined,
  flags: Pick<ConfigOverrides, 'cluster' | 'user'> = {},
): ClusterConfig => {
  const file = config.files[0] ?? '';
  const context = wanted ?? config.currentContext;
  if (!context && flags.cluster === undefined)
    throw new ConfigError('current-context: is not set; set it or use --context', { file });
  const contextEntry = context ? config.contexts.get(context) : { file, field: 'contexts', content: {} };
  if (!contextEntry)
    throw new ConfigError(
      `contexts: ${JSON.stringify(context)} does not exist; found: ${known(config.contexts.keys())}`,
      {
        file,
      },
    );
  const chosen = check(contextSchema, contextEntry.content, contextEntry.file, contextEntry.field);
  const find = (
    entries: ReadonlyMap<string, Entry>,
    field: 'cluster' | 'user',
    name: string | null | undefined,
  ): Entry => {
    const flag = flags[field];
    const entry = entries.get(flag ?? name ?? '');
    if (entry) return entry;
    if (flag !== undefined)
      throw new OptionError(`--${field}`, `"${flag}" does not exist in ${file}: give one of ${known(entries.keys())}`);
    const what = name ? `names ${JSON.stringify(name)}, which does not exist` : 'is missing';
    throw new ConfigError(`${contextEntry.field}.${field}: ${what}; found: ${known(entries.keys())}`, {
      file: contextEntry.file,
    });
  };
  const clusterEntry = find(config.clusters, 'cluster', chosen.cluster);
  const cluster = check(clusterSchema, clusterEntry.content, clusterEntry.file, clusterEntry.field);
  // A context without a user means anonymous access.
  const userEntry: Entry =
    (flags.user ?? chosen.user)
      ? find(config.users, 'user', chosen.user)
      : { file: contextEntry.file, field: 'users', content: {} };
  const user = check(userSchema, userEntry.content, userEntry.file, userEntry.field);
  const certificateAuthority = source(
    clusterEntry,
    cluster['certificate-authority-data'],
    cluster['certificate-authority'],
  );
  const insecure = cluster['insecure-skip-tls-verify'] ?? false;
  if (insecure && certificateAuthority)
    throw new ConfigError(
      `${clusterEntry.field}.insecure-skip-tls-verify: conflicts with the certificate authority; remove one of them`,
      {
        file: clusterEntry.file,
      },
    );
  const impersonate = impersonationOf(userEntry, user);
  return {
    server: cluster.server.replace(/(?<!\/)\/+$/, ''),
    namespace: chosen.namespace || 'default',
    ...(context && { context }),
    source: clusterEntry.file,
    insecureSkipTlsVerify: insecure,
    auth: authOf(userEntry, user, cluster),
    ...(certificateAuthority ? { certificateAuthority } : {}),
    ...(cluster['tls-server-name'] ? { tlsServerName: cluster['tls-server-name'] } : {}),
    ...(cluster['proxy-url'] ? { proxyUrl: cluster['proxy-url'] } : {}),
    ...(impersonate ? { impersonate } : {}),
  };
};
