import { spawn } from 'node:child_process';
import * as z from 'zod/mini';
import type { Env } from '../../runtime/index.ts';
import { startCallTimeout } from '../transport/call-timeout.ts';
import type { ExecPlugin } from './cluster-config.ts';
import { ConfigError } from './cluster-config.ts';

export interface ExecResult {
  token?: string;
  cert?: string;
  key?: string;
  /** Milliseconds since the epoch; undefined when the plugin set no end. */
  expiresAt?: number;
}

/** The cluster information that a plugin with `provideClusterInfo` receives. */
export interface ExecClusterInfo {
  server: string;
  certificateAuthority?: string;
  insecureSkipTlsVerify: boolean;
  tlsServerName?: string;
  proxyUrl?: string;
}

/** Interactively, a user may have to log in. */
const INTERACTIVE_MS = 5 * 60_000;
const UNATTENDED_MS = 60_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

const secret = z.optional(z.string().check(z.minLength(1)));

const credentialSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.literal('ExecCredential'),
  status: z.looseObject({
    token: secret,
    clientCertificateData: secret,
    clientKeyData: secret,
    expirationTimestamp: z.optional(z.iso.datetime({ offset: true })),
  }),
});

const execInfo = (plugin: ExecPlugin, cluster: ExecClusterInfo, interactive: boolean): string => {
  const { certificateAuthority: ca } = cluster;
  const clusterSpec = {
    server: cluster.server,
    ...(cluster.tlsServerName === undefined ? {} : { 'tls-server-name': cluster.tlsServerName }),
    ...(cluster.insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(cluster.proxyUrl === undefined ? {} : { 'proxy-url': cluster.proxyUrl }),
    ...(plugin.clusterConfig === undefined ? {} : { config: plugin.clusterConfig }),
  };
  return JSON.stringify({
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive, ...(plugin.provideClusterInfo ? { cluster: clusterSpec } : {}) },
  });
};

const run = (
  plugin: ExecPlugin,
  environment: Record<string, string | undefined>,
  interactive: boolean,
  signal: AbortSignal,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const name = `credential plugin ${plugin.command}`;
    // The plugin's stderr goes straight to the user: it may contain secrets, so it never enters an error or a log.
    const child = spawn(plugin.command, plugin.args, {
      env: { ...environment },
      shell: false,
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
      signal,
      killSignal: 'SIGKILL',
    });
    const output: Buffer[] = [];
    let bytes = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) {
        child.kill('SIGKILL');
        reject(new ConfigError(`${name} printed more than ${MAX_OUTPUT_BYTES} bytes`));
      } else output.push(chunk);
    });
    child.on('error', (cause) => {
      const missing = 'code' in cause && cause.code === 'ENOENT';
      const hint = plugin.installHint ? ` ${plugin.installHint}` : ' Install it or correct users[].user.exec.command.';
      reject(new ConfigError(missing ? `${name} was not found.${hint}` : `${name} failed to run`, { cause }));
    });
    child.on('close', (code, killedBy) => {
      if (code === 0) resolve(Buffer.concat(output).toString('utf8'));
      else reject(new ConfigError(`${name} ended with ${code === null ? killedBy : `exit code ${code}`}`));
    });
  });

/**
 * Runs a credential plugin once, without a shell, for at most one minute (five with a user at the terminal). Throws a
 * `ConfigError` that never contains the plugin's output.
 */
export const runExecPlugin = async (
  env: Env,
  plugin: ExecPlugin,
  cluster: ExecClusterInfo,
  options: {
    environment: Record<string, string | undefined>;
    terminal: boolean;
    signal?: AbortSignal;
    timeoutMs?: number;
  },
): Promise<ExecResult> => {
  const interactive = plugin.interactiveMode !== 'Never' && options.terminal;
  if (plugin.interactiveMode === 'Always' && !interactive)
    throw new ConfigError(`credential plugin ${plugin.command} has interactiveMode Always: run this in a terminal`);
  const environment = { ...options.environment };
  for (const { name, value } of plugin.env) environment[name] = value;
  environment.KUBERNETES_EXEC_INFO = execInfo(plugin, cluster, interactive);

  const timeoutMs = options.timeoutMs ?? (interactive ? INTERACTIVE_MS : UNATTENDED_MS);
  const deadline = startCallTimeout(env.clock, timeoutMs, options.signal);
  let text: string;
  try {
    text = await run(plugin, environment, interactive, deadline.signal);
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason;
    if (deadline.expired)
      throw new ConfigError(`credential plugin ${plugin.command} did not end within ${timeoutMs} ms`, { cause: error });
    throw error;
  } finally {
    deadline.release();
  }
  return parseExecCredential(plugin, text);
};

const parseExecCredential = (plugin: ExecPlugin, text: string): ExecResult => {
  const bad = (what: string): ConfigError => new ConfigError(`credential plugin ${plugin.command} printed ${what}`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Without the cause: a JSON error quotes its input, which contains the secret.
    throw bad('something that is not JSON');
  }
  const parsed = credentialSchema.safeParse(json);
  if (!parsed.success) throw bad(`no valid ExecCredential: ${parsed.error.issues[0]?.path.join('.') ?? ''} is wrong`);
  if (parsed.data.apiVersion !== plugin.apiVersion)
    throw bad(`apiVersion ${parsed.data.apiVersion}, but users[].user.exec.apiVersion is ${plugin.apiVersion}`);
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = parsed.data.status;
  if ((cert === undefined) !== (key === undefined)) throw bad('only one of clientCertificateData and clientKeyData');
  if (token === undefined && cert === undefined) throw bad('neither a token nor a client certificate');
  return {
    ...(token === undefined ? {} : { token }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(expirationTimestamp === undefined ? {} : { expiresAt: Date.parse(expirationTimestamp) }),
  };
};
