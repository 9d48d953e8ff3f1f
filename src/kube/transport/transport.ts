import type { Env } from '../../runtime/index.ts';
import { type ClusterConfig, ConfigError, type Source } from '../config/cluster-config.ts';
import { type Credentials, createCredentials, readSource, type Secrets } from '../config/credentials.ts';
import { type Connection, createConnection } from './connection.ts';
import type { HttpRequest, HttpResponse } from './round-trip.ts';

export interface TransportOptions {
  userAgent: string;
  http2: boolean;
  connectTimeoutMs: number;
  deadAfterMs: number;
  /** For credential plugins. */
  environment: Record<string, string | undefined>;
  terminal: boolean;
}

/** Authenticated requests to one API server over as few connections as possible. */
export interface Transport {
  readonly host: string;
  /** Refreshes credentials where needed. After a 401 it retries once, when there are other credentials to try. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
  close(): Promise<void>;
}

const impersonationHeaders = ({ impersonate }: ClusterConfig): string[] => {
  if (impersonate === undefined) return [];
  const headers = ['impersonate-user', impersonate.user];
  if (impersonate.uid) headers.push('impersonate-uid', impersonate.uid);
  for (const group of impersonate.groups) headers.push('impersonate-group', group);
  for (const [key, values] of Object.entries(impersonate.extra)) {
    for (const value of values) headers.push(`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`, value);
  }
  return headers;
};

/** Refuses an empty authority: TLS would fall back to trusting every authority of the machine. */
const readAuthority = async (from: Source): Promise<string> => {
  const text = await readSource(from, 'certificate-authority');
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new ConfigError(
    "certificate-authority: contains no certificate; provide the cluster's authority in PEM format",
    from.from === 'file' ? { file: from.path } : {},
  );
};

export const createTransport = (env: Env, config: ClusterConfig, options: TransportOptions): Transport => {
  const { server, insecureSkipTlsVerify, tlsServerName, proxyUrl } = config;
  const url = new URL(server);
  const basePath = url.pathname.replace(/\/+$/, '');
  const fixedHeaders = ['user-agent', options.userAgent, ...impersonationHeaders(config)];
  let credentials: Credentials | undefined;
  let ca: string | undefined;
  let current: { connection: Connection; cert: string | undefined; key: string | undefined } | undefined;
  const draining = new Set<Connection>();
  let closed = false;

  const loadCredentials = async (): Promise<Credentials> => {
    if (credentials !== undefined) return credentials;
    if (config.certificateAuthority) ca = await readAuthority(config.certificateAuthority);
    credentials ??= createCredentials(env, config.auth, {
      cluster: {
        server,
        insecureSkipTlsVerify,
        ...(ca === undefined ? {} : { certificateAuthority: ca }),
        ...(tlsServerName === undefined ? {} : { tlsServerName }),
        ...(proxyUrl === undefined ? {} : { proxyUrl }),
      },
      environment: options.environment,
      terminal: options.terminal,
    });
    return credentials;
  };

  const drain = (connection: Connection): void => {
    draining.add(connection);
    const forget = (): void => void draining.delete(connection);
    connection.drain().then(forget, forget);
  };

  // TLS presents a client certificate once, in the handshake: another certificate needs another connection.
  const connectionFor = ({ cert, key }: Secrets): Connection => {
    if (closed) throw new ConfigError('this client is closed');
    if (current !== undefined && current.cert === cert && current.key === key) return current.connection;
    if (current !== undefined) drain(current.connection);
    const { http2, connectTimeoutMs, deadAfterMs } = options;
    const tls = { ca, cert, key, insecureSkipTlsVerify, tlsServerName };
    const connection = createConnection(env, {
      origin: url.origin,
      ...tls,
      proxyUrl,
      http2,
      connectTimeoutMs,
      deadAfterMs,
    });
    current = { connection, cert, key };
    return connection;
  };

  const attempt = async (request: HttpRequest, secrets: Secrets, signal: AbortSignal): Promise<HttpResponse> => {
    const headers = [...request.headers, ...fixedHeaders];
    if (secrets.authorization !== undefined) headers.push('authorization', secrets.authorization);
    return connectionFor(secrets).send({ ...request, path: `${basePath}${request.path}`, headers }, signal);
  };

  return {
    host: url.host,
    async send(request, signal) {
      const source = await loadCredentials();
      const secrets = await source.get(signal);
      const response = await attempt(request, secrets, signal);
      if (response.status !== 401 || !(await source.renew(secrets, signal).catch(() => false))) return response;
      await response.body.return();
      return attempt(request, await source.get(signal), signal);
    },
    async close() {
      closed = true;
      await Promise.all([current?.connection.destroy(), ...[...draining].map((old) => old.destroy())]);
    },
  };
};
