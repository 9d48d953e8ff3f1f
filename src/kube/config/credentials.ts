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

export type ReadFile = (path: string) => Promise<string>;

const readSource = async (source: Source, field: string, readFile: ReadFile): Promise<string> => {
  if (source.from === 'text') return source.text;
  try {
    return await readFile(source.path);
  } catch (cause) {
    throw new ConfigError(`${field}: cannot read this file; correct its path or permissions`, {
      file: source.path,
      cause,
    });
  }
};

/** Refuses an empty authority: TLS would fall back to trusting every authority of the machine. */
const readAuthority = async (from: Source, readFile: ReadFile): Promise<string> => {
  const text = await readSource(from, 'certificate-authority', readFile);
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new ConfigError(
    "certificate-authority: contains no certificate; provide the cluster's authority in PEM format",
    from.from === 'file' ? { file: from.path } : {},
  );
};

/** The authority to trust. */
export interface Authority {
  /** The current certificates; undefined: the machine's authorities. */
  get(): Promise<string | undefined>;
  /** A connection failed, or was not made: reads a file again for the next one. */
  reread(): void;
}

/** A mounted authority is rotated like a mounted token, and read again as often. */
export const createAuthority = (env: Env, source: Source | undefined, readFile: ReadFile): Authority => {
  let current: { text: string; goodUntil: number } | undefined;
  let loading: Promise<string> | undefined;

  const load = async (from: Source): Promise<string> => {
    const text = await readAuthority(from, readFile).catch((error: unknown) => {
      // While a file is rotated it can be missing or incomplete.
      if (current === undefined) throw error;
      return current.text;
    });
    if (current !== undefined && text !== current.text) env.log.info("the cluster's certificate authority has changed");
    current = { text, goodUntil: from.from === 'file' ? env.clock.now() + REREAD_MS : Number.POSITIVE_INFINITY };
    return text;
  };

  return {
    async get() {
      if (source === undefined) return undefined;
      if (current !== undefined && env.clock.now() < current.goodUntil) return current.text;
      loading ??= load(source).finally(() => {
        loading = undefined;
      });
      return loading;
    },
    reread() {
      if (current !== undefined && source?.from === 'file') current.goodUntil = Number.NEGATIVE_INFINITY;
    },
  };
};

export interface CredentialsOptions {
  cluster: () => Promise<ExecClusterInfo>;
  environment: Record<string, string | undefined>;
  /** Whether a user can answer a plugin's prompts. */
  terminal: boolean;
  readFile: ReadFile;
  /** What the configuration says now; undefined where it is not read again. */
  reload: () => Promise<Auth | undefined>;
}

export const createCredentials = (env: Env, given: Auth, options: CredentialsOptions): Credentials => {
  let auth = given;
  let current: { secrets: Secrets; readAt: number; goodUntil: number } | undefined;
  let loading: Promise<Secrets> | undefined;
  const fromFiles = (): boolean =>
    [auth.token, auth.certificate?.cert, auth.certificate?.key].some((source) => source?.from === 'file');

  /** Imported on demand: most clusters need no plugin, and edge nodes save the memory. */
  const runPlugin = async (plugin: ExecPlugin): Promise<ExecResult> => {
    const { runExecPlugin } = await import('./exec-plugin.ts');
    return runExecPlugin(env, plugin, await options.cluster(), options);
  };

  const read = (source: Source, field: string): Promise<string> => readSource(source, field, options.readFile);

  const load = async (): Promise<Secrets> => {
    const plugin: ExecResult = auth.exec ? await runPlugin(auth.exec) : {};
    const token = auth.token === undefined ? plugin.token : (await read(auth.token, 'token')).trim();
    const basic = auth.basic && Buffer.from(`${auth.basic.username}:${auth.basic.password}`).toString('base64');
    const secrets: Secrets = {
      authorization: token ? `Bearer ${token}` : basic === undefined ? undefined : `Basic ${basic}`,
      cert: plugin.cert ?? (auth.certificate && (await read(auth.certificate.cert, 'client-certificate'))),
      key: plugin.key ?? (auth.certificate && (await read(auth.certificate.key, 'client-key'))),
    };
    const now = env.clock.now();
    const goodUntil = auth.exec
      ? Math.max(now + RERUN_MS, (plugin.expiresAt ?? Infinity) - EARLY_MS)
      : fromFiles()
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
      if (auth.exec && current !== undefined && env.clock.now() - current.readAt < RERUN_MS) return false;
      auth = (await withSignal(options.reload(), signal)) ?? auth;
      return (await withSignal(loadOnce(), signal)) !== used;
    },
  };
};

const sameSecrets = (a: Secrets, b: Secrets): boolean =>
  a.authorization === b.authorization && a.cert === b.cert && a.key === b.key;
