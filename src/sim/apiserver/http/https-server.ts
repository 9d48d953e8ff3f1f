import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type Clock, createCertificateAuthority, type Identity, nextTurn } from '../../../runtime/index.ts';
import type { ApiServer } from '../../types.ts';
import { StatusError, toStatus } from '../errors.ts';
import type { ServerState } from '../handlers/state.ts';
import { stateOf } from '../server.ts';
import { type AuditEvent, type AuditRecorder, auditCall, responseBody } from './audit.ts';
import type { Request, Response } from './exchange.ts';
import { serve } from './router.ts';

export interface Access {
  readonly server: string;
  /** PEM. */
  readonly certificateAuthority: string;
  readonly token: string;
}

const NAME = 'edgeset';

/** A kubeconfig of one cluster and one user, as JSON, which is YAML. Holds the token: write it for its owner only. */
export const kubeconfigText = ({ server, certificateAuthority, token }: Access, namespace: string): string => {
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
  /** What is served; made by `createApiServer`. */
  apiServer: ApiServer;
  /** The machine's clock: certificates are checked by real time, whatever time the cluster lives in. */
  wallClock: Clock;
  /** On 127.0.0.1. Default: any that is free. */
  port?: number;
  /** Told of each call about resources, right before its answer is sent; of a watch when it has ended. */
  audit?: (call: AuditEvent) => void;
  /** Of an earlier server that this one takes the place of. Default: a new one. */
  certificate?: Identity;
  /** Of the administrator. Default: a new one for each start. */
  token?: string;
}

export interface HttpsServer {
  /** `https://127.0.0.1:port`. */
  readonly server: string;
  /** PEM. */
  readonly certificateAuthority: string;
  readonly token: string;
  /** For the server that takes this one's place. */
  readonly certificate: Identity;
  /** For `KUBECONFIG`; with credentials. */
  readonly kubeconfig: (namespace?: string) => string;
  /** Ends open watches and resolves when no connection is left. */
  stop(): Promise<void>;
}

/** Made of the private key, which is as good as chance gets. */
const tokenOf = (key: string): string => createHash('sha256').update(`token of ${key}`).digest('hex');

const LONGEST_BODY = 8 * 1024 * 1024;
const MOST_DISCARDED = 64 * 1024 * 1024;
/** A watch whose client reads this much too slowly is ended; it comes back for what it missed. */
const LONGEST_BACKLOG = 64 * 1024 * 1024;

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Read to its end all the same: a client that is cut off while it sends never sees the answer.
    if (size <= LONGEST_BODY) chunks.push(chunk);
    else if (size > MOST_DISCARDED) break;
  }
  if (size > LONGEST_BODY)
    throw new StatusError(
      'BadRequest',
      413,
      'RequestEntityTooLarge',
      `Request entity too large: limit is ${LONGEST_BODY}`,
    );
  return Buffer.concat(chunks);
};

const head = (response: ServerResponse, status: number, type: string, warnings: readonly string[] = []): void => {
  for (const text of warnings)
    response.appendHeader('warning', `299 - "${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`);
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-cache, private' });
};

const sendStatus = (response: ServerResponse, error: unknown): void => {
  const status = toStatus(error);
  head(response, status.code, 'application/json');
  response.end(JSON.stringify(status));
};

const sendStream = async (
  response: ServerResponse,
  answer: Response & { is: 'stream' },
  abort: () => void,
): Promise<void> => {
  const pending: string[] = [];
  const begin = (): void => {
    if (response.headersSent) return;
    head(response, 200, 'application/json');
    response.flushHeaders();
  };
  let flushing = false;
  // Lines of one turn of the event loop travel together.
  const flush = (): void => {
    flushing = false;
    if (pending.length === 0 || response.destroyed) return;
    begin();
    response.write(pending.splice(0).join(''));
    if (response.writableLength > LONGEST_BACKLOG) abort();
  };
  const done = answer.run((line) => {
    pending.push(line);
    if (flushing) return;
    flushing = true;
    void nextTurn().then(flush);
  });
  // A refusal comes at once or not at all: headers wait for that.
  await Promise.race([done, nextTurn()]);
  begin();
  await done;
  flush();
  response.end();
};

const send = async (response: ServerResponse, answer: Response, abort: () => void): Promise<void> => {
  switch (answer.is) {
    case 'stream':
      await sendStream(response, answer, abort);
      return;
    case 'text':
      head(response, answer.status, 'text/plain; charset=utf-8');
      response.end(answer.body);
      return;
    case 'json':
      head(response, answer.status, answer.contentType ?? 'application/json', answer.warnings);
      response.end(JSON.stringify(answer.body));
  }
};

const callOf = (state: ServerState, request: IncomingMessage, signal: AbortSignal): Request => {
  const url = new URL(request.url ?? '/', 'https://localhost');
  const {
    authorization = '',
    accept = '',
    'content-type': contentType = '',
    'user-agent': userAgent = '',
  } = request.headers;
  const token = /^Bearer (.+)$/i.exec(authorization)?.[1];
  const user = token === undefined ? undefined : state.tokens.find(token, state.clock.now());
  if (!user) throw new StatusError('Unauthorized', 401, 'Unauthorized', 'Unauthorized');
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    host: request.headers.host ?? '',
    query: url.searchParams,
    accept,
    contentType,
    userAgent,
    user,
    body: () => readBody(request),
    signal,
  };
};

/** Serves the apiServer over HTTPS on loopback, to whoever has the token. */
export const startHttpsServer = async (options: HttpsServerOptions): Promise<HttpsServer> => {
  const { apiServer, wallClock, port = 0, audit } = options;
  const state = stateOf(apiServer);
  const certificate =
    options.certificate ??
    createCertificateAuthority('edgeset embedded cluster', { now: wallClock.now(), random: state.random });
  const token = options.token ?? tokenOf(certificate.key);
  state.tokens.add(token, { name: 'edgeset-admin', groups: ['system:masters', 'system:authenticated'] });
  const stopping = new AbortController();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    const abort = (): void => gone.abort();
    const signal = AbortSignal.any([gone.signal, stopping.signal]);
    response.once('close', abort);
    let auditRecorder: AuditRecorder | undefined;
    try {
      let call = callOf(state, request, signal);
      if (audit) {
        auditRecorder = auditCall(call, { now: () => state.clock.now(), version: state.store.version, audit });
        ({ call } = auditRecorder);
      }
      const given = await serve(state, call);
      if (given.is !== 'stream') auditRecorder?.respond(given.status, responseBody(given));
      await send(response, given, abort);
      if (given.is === 'stream') auditRecorder?.respond(200, undefined);
    } catch (error) {
      const status = toStatus(error);
      auditRecorder?.respond(status.code, status);
      if (response.headersSent) response.destroy();
      else sendStatus(response, error);
    }
  };

  const server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    void answer(request, response);
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
