import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Clock } from '../../runtime/index.ts';

const QUERY = '/api/v1/query';

/**
 * Stands in for the Prometheus that the manager asks. It knows no PromQL: a query must be the series as it was set, and any
 * other one has no sample.
 */
export const startMetrics = async (clock: Clock) => {
  const series = new Map<string, number>();
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const query = new URLSearchParams(await text(request)).get('query') ?? '';
    const value = series.get(query);
    const result = value === undefined ? [] : [{ metric: {}, value: [clock.now() / 1000, String(value)] }];
    response.setHeader('content-type', 'application/json');
    response.statusCode = request.method === 'POST' && request.url === QUERY ? 200 : 404;
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
  };
  const server = createServer((request, response) => {
    // The client closed the connection before its request was complete.
    respond(request, response).catch(() => response.destroy());
  });
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    /** From now on the series has this value. */
    set: (name: string, value: number): void => void series.set(name, value),
    async close(): Promise<void> {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
};
