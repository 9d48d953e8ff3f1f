import type { ApiServer } from '../../types.ts';
import { toStatus } from '../errors.ts';
import { stateOf } from '../server.ts';
import type { User } from './authentication.ts';
import type { Response } from './exchange.ts';
import { serve } from './router.ts';

/** A request without a socket, after authentication. */
export interface PlainRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body?: string;
  /** Ends a watch. */
  readonly signal: AbortSignal;
}

export type PlainResponse =
  | { readonly is: 'text'; readonly status: number; readonly contentType: string; readonly body: string }
  | Extract<Response, { is: 'stream' }>;

const ADMIN: User = { name: 'edgeset-admin', groups: ['system:masters', 'system:authenticated'] };

/** Answers requests as `startHttpsServer` does, without a connection. Errors are answers, too. */
export const createRequestHandler = (apiServer: ApiServer): ((request: PlainRequest) => Promise<PlainResponse>) => {
  const state = stateOf(apiServer);
  return async ({ method, path, headers, body = '', signal }) => {
    const url = new URL(path, 'https://localhost');
    try {
      const response = await serve(state, {
        method,
        path: url.pathname,
        host: url.host,
        query: url.searchParams,
        accept: headers.get('accept') ?? '',
        contentType: headers.get('content-type') ?? '',
        userAgent: headers.get('user-agent') ?? '',
        user: ADMIN,
        body: () => Promise.resolve(Buffer.from(body)),
        signal,
      });
      if (response.is === 'stream') {
        const refuse = (error: unknown): string => `{"type":"ERROR","object":${JSON.stringify(toStatus(error))}}\n`;
        // An invalid watch is refused when it begins.
        return { is: 'stream', run: (send) => response.run(send).catch((error: unknown) => send(refuse(error))) };
      }
      const { status } = response;
      if (response.is === 'text') return { is: 'text', status, contentType: 'text/plain', body: response.body };
      const { contentType = 'application/json' } = response;
      return { is: 'text', status, contentType, body: JSON.stringify(response.body) };
    } catch (error) {
      const status = toStatus(error);
      return { is: 'text', status: status.code, contentType: 'application/json', body: JSON.stringify(status) };
    }
  };
};
