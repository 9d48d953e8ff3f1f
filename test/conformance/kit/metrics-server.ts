import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface MetricsRequest {
  path: string;
  query: string;
  authorization: string | undefined;
  at: number;
}

/** A server in the place of a Prometheus, which says whatever a case wants it to. */
export interface MetricsServer {
  readonly url: string;
  readonly requests: readonly MetricsRequest[];
  close(): void;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
};

/** What a Prometheus says that has one sample. */
export const sample = (value: string): string =>
  JSON.stringify({ status: 'success', data: { resultType: 'vector', result: [{ metric: {}, value: [1.5, value] }] } });

/** Serves `answer`, by the path before `/api/v1/query`. With `tls`, over HTTPS alone. */
export const startMetricsServer = async (
  answer: (path: string, response: ServerResponse) => void,
  tls?: { cert: string; key: string },
): Promise<MetricsServer> => {
  const requests: MetricsRequest[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = Date.now();
    const query = new URLSearchParams(await bodyOf(request)).get('query') ?? '';
    const path = (request.url ?? '').replace(/\/api\/v1\/query.*$/, '').replace(/^\/+/, '');
    requests.push({ path, query, authorization: request.headers.authorization, at });
    answer(path, response);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    response.on('error', () => undefined);
    serve(request, response).catch(() => response.destroy());
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
