import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import {
  anySignal,
  type Clock,
  createCertificateAuthority,
  type Identity,
  nextTurn,
} from '../../../src/runtime/index.ts';
import type { ApiServer } from '../../types.ts';
import { StatusError, toStatus } from '../errors.ts';
import type { ServerState } from '../handlers/state.ts';
import { stateOf } from '../server.ts';
import { type AuditEvent, type AuditRecorder, recordRequest, responseBody } from './audit.ts';
import type { Request, Response } from './exchange.ts';
import { serve } from './router.ts';

interface Access {
  /** `https://127.0.0.1:port`. */
  readonly server: string;
  /** PEM. */
  readonly certificateAuthority: string;
  readonly token: string;
}

const NAME = 'edgeset';

/**
 * A kubeconfig with one cluster and one user, as JSON, which is YAML. It contains the token: restrict access to the
 * file.
 */
const kubeconfigText = ({ server, certificateAuthority, token }: Access, namespace: string): string => {
  const authority = Buffer.from(certificateAuthority).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': NAME,
    clusters: [{ name: NAME, cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: NAME, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME, namespace } }],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
};

export interface HttpsServerOptions {
  apiServer: ApiServer;
  /** The machine's clock: certificates are checked against real time, whatever the cluster's time is. */
  wallClock: Clock;
  /** Port on 127.0.0.1. Default: any free port. */
  port?: number;
  /** Called for each resource request right before its response is sent, and for each watch when it ends. */
  audit?: (event: AuditEvent) => void;
  /** The certificate of an earlier server that this one replaces. Default: a new one. */
  certificate?: Identity;
  /** The administrator's token. Default: a new one for each start. */
  token?: string;
}

export interface HttpsServer extends Access {
  /** For a server that replaces this one. */
  readonly certificate: Identity;
  /** The content of a kubeconfig file, with credentials. */
  readonly kubeconfig: (namespace?: string) => string;
  /** Ends open watches and resolves when all connections are closed. */
  stop(): Promise<void>;
}

/** Derived from the private key, which is random enough. */
const tokenOf = (key: string): string => createHash('sha256').update(`token of ${key}`).digest('hex');

/** As in Kubernetes. */
const LONGEST_BODY = 3 * 1024 * 1024;
const MOST_DISCARDED = 64 * 1024 * 1024;
/** A watch is ended when its client falls this many bytes behind; the client resumes it. */
const LONGEST_BACKLOG = 64 * 1024 * 1024;

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Read the rest anyway: a client that is cut off while sending never sees the response.
    if (size <= LONGEST_BODY) chunks.push(chunk);
    else if (size > MOST_DISCARDED) break;
  }
  if (size > LONGEST_BODY)
    throw new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${LONGEST_BODY}`);
  return Buffer.concat(chunks);
};

const head = (outgoing: ServerResponse, status: number, type: string, warnings: readonly string[] = []): void => {
  for (const text of warnings)
    outgoing.appendHeader('warning', `299 - "${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`);
  outgoing.writeHead(status, { 'content-type': type, 'cache-control': 'no-cache, private' });
};

const sendStatus = (outgoing: ServerResponse, error: unknown): void => {
  const status = toStatus(error);
  head(outgoing, status.code, 'application/json', error instanceof StatusError ? error.warnings : []);
  outgoing.end(JSON.stringify(status));
};

const sendStream = async (
  outgoing: ServerResponse,
  response: Response & { is: 'stream' },
  abort: () => void,
): Promise<void> => {
  const pending: string[] = [];
  const begin = (): void => {
    if (outgoing.headersSent) return;
    head(outgoing, 200, 'application/json');
    outgoing.flushHeaders();
  };
  let flushing = false;
  // Batch the lines of one turn of the event loop.
  const flush = (): void => {
    flushing = false;
    if (pending.length === 0 || outgoing.destroyed) return;
    begin();
    outgoing.write(pending.splice(0).join(''));
    if (outgoing.writableLength > LONGEST_BACKLOG) abort();
  };
  const done = response.run((line) => {
    pending.push(line.text());
    if (flushing) return;
    flushing = true;
    void nextTurn().then(flush);
  });
  // A request is rejected at once or not at all: delay the headers until then.
  await Promise.race([done, nextTurn()]);
  begin();
  await done;
  flush();
  outgoing.end();
};

const send = async (outgoing: ServerResponse, response: Response, abort: () => void): Promise<void> => {
  switch (response.is) {
    case 'stream':
      await sendStream(outgoing, response, abort);
      return;
    case 'bytes':
      head(outgoing, response.status, response.contentType);
      outgoing.end(response.body);
      return;
    case 'json':
      head(outgoing, response.status, response.contentType ?? 'application/json', response.warnings);
      outgoing.end(JSON.stringify(response.body));
  }
};

const toRequest = (state: ServerState, incoming: IncomingMessage, signal: AbortSignal): Request => {
  const url = new URL(incoming.url ?? '/', 'https://localhost');
  const {
    authorization = '',
    accept = '',
    'content-type': contentType = '',
    'user-agent': userAgent = '',
  } = incoming.headers;
  let body: Promise<Buffer> | undefined;
  const token = /^Bearer (.+)$/i.exec(authorization)?.[1];
  const user = token === undefined ? undefined : state.tokens.find(token, state.clock.now());
  if (!user) throw new StatusError('Unauthorized', 'Unauthorized');
  return {
    method: incoming.method ?? 'GET',
    path: url.pathname,
    host: incoming.headers.host ?? '',
    query: url.searchParams,
    accept,
    contentType,
    userAgent,
    user,
    body: () => (body ??= readBody(incoming)),
    signal,
  };
};

/** Serves the API server over HTTPS on loopback, to clients with the token. */
export const startHttpsServer = async (options: HttpsServerOptions): Promise<HttpsServer> => {
  const { apiServer, wallClock, port = 0, audit } = options;
  const state = stateOf(apiServer);
  const certificate =
    options.certificate ??
    createCertificateAuthority('edgeset embedded cluster', { now: wallClock.now(), random: state.random });
  const token = options.token ?? tokenOf(certificate.key);
  state.tokens.add(token, { name: 'edgeset-admin', groups: ['system:masters', 'system:authenticated'] });
  const stopping = new AbortController();

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const disconnected = new AbortController();
    const abort = (): void => disconnected.abort();
    const signal = anySignal(disconnected.signal, stopping.signal);
    outgoing.once('close', abort);
    // The cluster's time, which is not the machine's where it runs faster: clients compare their clocks with it.
    outgoing.setHeader('date', new Date(state.clock.now()).toUTCString());
    let auditRecorder: AuditRecorder | undefined;
    try {
      let request = toRequest(state, incoming, signal);
      if (audit) {
        auditRecorder = recordRequest(request, { now: () => state.clock.now(), version: state.store.version, audit });
        ({ request } = auditRecorder);
      }
      const response = await serve(state, request);
      if (response.is !== 'stream') auditRecorder?.respond(response.status, responseBody(response));
      await send(outgoing, response, abort);
      if (response.is === 'stream') auditRecorder?.respond(200, undefined);
    } catch (error) {
      const status = toStatus(error);
      auditRecorder?.respond(status.code, status);
      if (outgoing.headersSent) outgoing.destroy();
      else sendStatus(outgoing, error);
    }
  };

  const server = createServer({ cert: certificate.cert, key: certificate.key }, (incoming, outgoing) => {
    void handle(incoming, outgoing);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  const url = `https://127.0.0.1:${bound}`;
  const access = { server: url, certificateAuthority: certificate.cert, token };
  return {
    ...access,
    certificate,
    kubeconfig: (namespace = 'default') => kubeconfigText(access, namespace),
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      stopping.abort();
      await nextTurn();
      server.closeAllConnections();
      await closed;
    },
  };
};
