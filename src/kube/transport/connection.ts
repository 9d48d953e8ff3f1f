import { type Env, withSignal } from '../../runtime/index.ts';
import { type ClusterConfig, ConfigError, type Source } from '../config/cluster-config.ts';
import { type Credentials, createCredentials, readSource, type Secrets } from '../config/credentials.ts';
import { ExchangeError, exchange, type HttpRequest, type HttpResponse, type Sender } from './exchange.ts';
import { createLink, type Link } from './link.ts';

export interface ConnectionOptions {
  userAgent: string;
  http2: boolean;
  connectTimeoutMs: number;
  deadAfterMs: number;
  /** For credential plugins. */
  environment: Record<string, string | undefined>;
  terminal: boolean;
}

/** Authenticated exchanges with one API server over as few connections as possible. */
export interface Connection {
  readonly host: string;
  /** Refreshes credentials where needed. A 401 is answered by one retry with renewed credentials, when there are any. */
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

/** An empty one would not be taken for none: TLS would trust every authority of the machine instead. */
const readAuthority = async (from: Source): Promise<string> => {
  const text = await readSource(from, 'certificate-authority');
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new ConfigError(
    "certificate-authority: holds no certificate; give the cluster's authority in PEM",
    from.from === 'file' ? { file: from.path } : {},
  );
};

export const createConnection = (env: Env, config: ClusterConfig, options: ConnectionOptions): Connection => {
  const url = new URL(config.server);
  const basePath = url.pathname.replace(/\/+$/, '');
  const fixedHeaders = ['user-agent', options.userAgent, ...impersonationHeaders(config)];
  let credentials: Credentials | undefined;
  let ca: string | undefined;
  let link: { link: Link; cert: string | undefined; key: string | undefined } | undefined;
  const retired = new Set<Link>();
  let closed = false;

  const ready = async (): Promise<Credentials> => {
    if (credentials !== undefined) return credentials;
    if (config.certificateAuthority) ca = await readAuthority(config.certificateAuthority);
    credentials ??= createCredentials(env, config.auth, {
      cluster: {
        server: config.server,
        insecureSkipTlsVerify: config.insecureSkipTlsVerify,
        ...(ca === undefined ? {} : { certificateAuthority: ca }),
        ...(config.tlsServerName === undefined ? {} : { tlsServerName: config.tlsServerName }),
        ...(config.proxyUrl === undefined ? {} : { proxyUrl: config.proxyUrl }),
      },
      environment: options.environment,
      terminal: options.terminal,
    });
    return credentials;
  };

  // TLS presents a certificate once, at the handshake: another certificate needs other connections.
  const linkFor = ({ cert, key }: Secrets): Link => {
    if (closed) throw new ConfigError('this client is closed');
    if (link !== undefined && link.cert === cert && link.key === key) return link.link;
    if (link !== undefined) {
      const old = link.link;
      retired.add(old);
      const forget = (): void => void retired.delete(old);
      old.retire().then(forget, forget);
    }
    const made = createLink(env, {
      origin: url.origin,
      insecureSkipTlsVerify: config.insecureSkipTlsVerify,
      http2: options.http2,
      connectTimeoutMs: options.connectTimeoutMs,
      deadAfterMs: options.deadAfterMs,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(config.tlsServerName === undefined ? {} : { tlsServerName: config.tlsServerName }),
      ...(config.proxyUrl === undefined ? {} : { proxyUrl: config.proxyUrl }),
    });
    link = { link: made, cert, key };
    return made;
  };

  const attempt = async (request: HttpRequest, secrets: Secrets, signal: AbortSignal): Promise<HttpResponse> => {
    const headers = [...request.headers, ...fixedHeaders];
    if (secrets.authorization !== undefined) headers.push('authorization', secrets.authorization);
    const path = `${basePath}${request.path}`;
    let sender: Sender;
    try {
      sender = await withSignal(linkFor(secrets).ready(), signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error instanceof ConfigError ? error : new ExchangeError(false, error);
    }
    return exchange(sender, url.origin, { ...request, path, headers }, signal);
  };

  return {
    host: url.host,
    async send(request, signal) {
      const source = await ready();
      const secrets = await source.get(signal);
      const response = await attempt(request, secrets, signal);
      if (response.status !== 401 || !(await source.renew(secrets, signal).catch(() => false))) return response;
      await response.body.return();
      return attempt(request, await source.get(signal), signal);
    },
    async close() {
      closed = true;
      await Promise.all([link?.link.destroy(), ...[...retired].map((old) => old.destroy())]);
    },
  };
};
