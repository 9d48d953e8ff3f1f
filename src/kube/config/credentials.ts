import { readFile } from 'node:fs/promises';
import { type Env, withSignal } from '../../runtime/index.ts';
import { type Auth, ConfigError, type ExecPlugin, type Source } from './cluster-config.ts';
import type { ExecClusterInfo, ExecResult } from './exec-plugin.ts';

/** The credentials that one request presents. */
export interface Secrets {
  /** Value of the Authorization header. */
  readonly authorization: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

export interface Credentials {
  /** The current secrets, from memory, files or the plugin. */
  get(signal?: AbortSignal): Promise<Secrets>;
  /** After the server has refused `used`: true when there are other secrets to try. */
  renew(used: Secrets, signal?: AbortSignal): Promise<boolean>;
}

/** Mounted tokens are rotated well before they expire: rereading every ten seconds is soon enough. */
const REREAD_MS = 10_000;
/** A plugin whose credentials are refused must not run for every request. */
const RERUN_MS = 5_000;
/** A plugin's credentials are replaced this long before they expire, so that they do not expire in transit. */
const EARLY_MS = 10_000;

export const readSource = async (source: Source, field: string): Promise<string> => {
  if (source.from === 'text') return source.text;
  try {
    return await readFile(source.path, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${field}: cannot read this file; correct its path or permissions`, {
      file: source.path,
      cause,
    });
  }
};

export interface CredentialsOptions {
  cluster: ExecClusterInfo;
  environment: Record<string, string | undefined>;
  /** Whether a user can answer a plugin's prompts. */
  terminal: boolean;
}

export const createCredentials = (env: Env, auth: Auth, options: CredentialsOptions): Credentials => {
  let current: { secrets: Secrets; readAt: number; goodUntil: number } | undefined;
  let loading: Promise<Secrets> | undefined;
  const fromFiles = [auth.token, auth.certificate?.cert, auth.certificate?.key].some(
    (source) => source?.from === 'file',
  );

  /** Imported on demand: most clusters need no plugin, and edge nodes save the memory. */
  const runPlugin = async (plugin: ExecPlugin): Promise<ExecResult> => {
    const { runExecPlugin } = await import('./exec-plugin.ts');
    return runExecPlugin(env, plugin, options.cluster, options);
  };

  const load = async (): Promise<Secrets> => {
    const plugin: ExecResult = auth.exec ? await runPlugin(auth.exec) : {};
    const token = auth.token === undefined ? plugin.token : (await readSource(auth.token, 'token')).trim();
    const basic = auth.basic && Buffer.from(`${auth.basic.username}:${auth.basic.password}`).toString('base64');
    const secrets: Secrets = {
      authorization: token ? `Bearer ${token}` : basic === undefined ? undefined : `Basic ${basic}`,
      cert: plugin.cert ?? (auth.certificate && (await readSource(auth.certificate.cert, 'client-certificate'))),
      key: plugin.key ?? (auth.certificate && (await readSource(auth.certificate.key, 'client-key'))),
    };
    const now = env.clock.now();
    const goodUntil = auth.exec
      ? Math.max(now + RERUN_MS, (plugin.expiresAt ?? Infinity) - EARLY_MS)
      : fromFiles
        ? now + REREAD_MS
        : Infinity;
    const same = current !== undefined && sameSecrets(current.secrets, secrets);
    // One object per set of secrets, so that `renew` can tell by identity whether another call has already renewed them.
    current = { secrets: same && current ? current.secrets : secrets, readAt: now, goodUntil };
    return current.secrets;
  };

  const loadOnce = (): Promise<Secrets> => {
    loading ??= load().finally(() => {
      loading = undefined;
    });
    return loading;
  };

  return {
    async get(signal) {
      if (current !== undefined && env.clock.now() < current.goodUntil) return current.secrets;
      try {
        return await withSignal(loadOnce(), signal);
      } catch (error) {
        // While a mounted token is rotated its file can be missing: the old token may still be valid.
        if (current !== undefined && !auth.exec && error instanceof ConfigError) return current.secrets;
        throw error;
      }
    },
    async renew(used, signal) {
      if (current !== undefined && current.secrets !== used) return true;
      if (!auth.exec && !fromFiles) return false;
      if (auth.exec && current !== undefined && env.clock.now() - current.readAt < RERUN_MS) return false;
      return (await withSignal(loadOnce(), signal)) !== used;
    },
  };
};

const sameSecrets = (a: Secrets, b: Secrets): boolean =>
  a.authorization === b.authorization && a.cert === b.cert && a.key === b.key;
