import type { Env } from '../../runtime/index.ts';
import { type ClusterConfig, ConfigError } from '../config/cluster-config.ts';
import { createAuthority, createCredentials, type ReadFile, type Secrets } from '../config/credentials.ts';
import type { Connection } from './connection.ts';
import type { ConnectionOptions } from './dialer.ts';
import { type HttpRequest, type HttpResponse, RoundTripError } from './round-trip.ts';

export interface TransportOptions {
  userAgent: string;
  connectTimeoutMs: number;
  deadAfterMs: number;
  /** For credential plugins. */
  environment: Record<string, string | undefined>;
  terminal: boolean;
  connect: (env: Env, options: ConnectionOptions) => Connection;
  readFile: ReadFile;
  reload: () => Promise<ClusterConfig | undefined>;
}

/** Authenticated requests to one API server over as few connections as possible. */
export interface Transport {
  readonly host: string;
  /** Refreshes credentials where needed. After a 401 it retries once, when there are other credentials to try. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
  close(): Promise<void>;
}

const impersonationHeaders = ({ impersonate }: ClusterConfig): HttpRequest['headers'] => {
  if (impersonate === undefined) return {};
  const { user, uid, groups, extra } = impersonate;
  return {
    'impersonate-user': user,
    ...(uid && { 'impersonate-uid': uid }),
    'impersonate-group': groups,
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key.toLowerCase())}`,
        values,
      ]),
    ),
  };
};

async function* startingWith(first: Uint8Array, rest: HttpResponse['body']): HttpResponse['body'] {
  yield first;
  yield* rest;
}

/** With what it says already read: Node drops the body of an HTTP/2 stream that closes before anybody reads it. */
const beingRead = async (response: HttpResponse): Promise<HttpResponse> => {
  const { body } = response;
  const first = await body.next();
  return first.done ? response : { ...response, body: startingWith(first.value, body) };
};

export const createTransport = (env: Env, config: ClusterConfig, options: TransportOptions): Transport => {
  const { server, insecureSkipTlsVerify, tlsServerName, proxyUrl } = config;
  const url = new URL(server);
  const basePath = url.pathname.replace(/(?<!\/)\/+$/, '');
  const fixedHeaders = { 'user-agent': options.userAgent, ...impersonationHeaders(config) };
  const authority = createAuthority(env, config.certificateAuthority, options.readFile);
  const credentials = createCredentials(env, config.auth, {
    ...options,
    reload: async () => {
      const now = await options.reload();
      // Another server, or another user of it, must not get them.
      return now?.server === server && now.context === config.context ? now.auth : undefined;
    },
    cluster: async () => {
      const ca = await authority.get();
      return {
        server,
        insecureSkipTlsVerify,
        ...(ca === undefined ? {} : { certificateAuthority: ca }),
        ...(tlsServerName === undefined ? {} : { tlsServerName }),
        ...(proxyUrl === undefined ? {} : { proxyUrl }),
      };
    },
  });
  let current: { connection: Connection; ca: string | undefined; secrets: Pick<Secrets, 'cert' | 'key'> } | undefined;
  const draining = new Set<Connection>();
  let closed = false;

  const drain = (connection: Connection): void => {
    draining.add(connection);
    const forget = (): void => void draining.delete(connection);
    connection.drain().then(forget, forget);
  };

  // TLS presents a client certificate and verifies the server once, in the handshake: another certificate or authority needs
  // another connection.
  const connectionFor = ({ cert, key }: Secrets, ca: string | undefined): Connection => {
    if (closed) throw new ConfigError('this client is closed');
    const { secrets } = current ?? {};
    if (current !== undefined && current.ca === ca && secrets?.cert === cert && secrets?.key === key)
      return current.connection;
    if (current !== undefined) drain(current.connection);
    const { connectTimeoutMs, deadAfterMs } = options;
    const connection = options.connect(env, {
      origin: url.origin,
      ca,
      cert,
      key,
      insecureSkipTlsVerify,
      tlsServerName,
      proxyUrl,
      connectTimeoutMs,
      deadAfterMs,
    });
    current = { connection, ca, secrets: { cert, key } };
    return connection;
  };

  const attempt = async (request: HttpRequest, secrets: Secrets, signal: AbortSignal): Promise<HttpResponse> => {
    const { authorization } = secrets;
    const headers = { ...request.headers, ...fixedHeaders, ...(authorization !== undefined && { authorization }) };
    const ca = await authority.get();
    try {
      return await connectionFor(secrets, ca).send({ ...request, path: `${basePath}${request.path}`, headers }, signal);
    } catch (error) {
      if (error instanceof RoundTripError) authority.reread();
      throw error;
    }
  };

  return {
    host: url.host,
    async send(request, signal) {
      const secrets = await credentials.get(signal);
      const response = await attempt(request, secrets, signal);
      if (response.status !== 401) return response;
      const refused = await beingRead(response);
      if (!(await credentials.renew(secrets, signal).catch(() => false))) return refused;
      refused.cancel();
      return attempt(request, await credentials.get(signal), signal);
    },
    async close() {
      closed = true;
      await Promise.all([current?.connection.destroy(), ...[...draining].map((old) => old.destroy())]);
    },
  };
};
