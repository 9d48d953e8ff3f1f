import type { ApiServer } from '../../types.ts';
import { toStatus } from '../errors.ts';
import { stateOf } from '../server.ts';
import type { User } from '../storage/tokens.ts';
import { type Response, watchLine } from './exchange.ts';
import { serve } from './router.ts';

/** A request without a socket, after authentication. */
export interface PlainRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body?: string;
  /** What the body says, if that is known already. Must not be modified afterwards. */
  readonly value?: unknown;
  /** Ends a watch. */
  readonly signal: AbortSignal;
}

export type PlainResponse =
  | {
      readonly is: 'text';
      readonly status: number;
      readonly contentType: string;
      /** What the body says. Must not be modified. */
      readonly value: unknown;
      readonly body: () => string;
    }
  | Extract<Response, { is: 'stream' }>;

const ADMIN: User = { name: 'edgeset-admin', groups: ['system:masters', 'system:authenticated'] };

const inJson = (status: number, value: unknown, contentType = 'application/json'): PlainResponse => ({
  is: 'text',
  status,
  contentType,
  value,
  body: () => JSON.stringify(value),
});

/** Answers requests as `startHttpsServer` does, without a connection. Errors are answers, too. */
export const createRequestHandler = (apiServer: ApiServer): ((request: PlainRequest) => Promise<PlainResponse>) => {
  const state = stateOf(apiServer);
  return async ({ method, path, headers, body = '', value, signal }) => {
    const [pathname = '', ...search] = path.split('?');
    try {
      const response = await serve(state, {
        method,
        path: pathname,
        host: 'localhost',
        query: new URLSearchParams(search.join('?')),
        accept: headers.get('accept') ?? '',
        contentType: headers.get('content-type') ?? '',
        userAgent: headers.get('user-agent') ?? '',
        user: ADMIN,
        body: () => Promise.resolve(Buffer.from(body)),
        value,
        signal,
      });
      if (response.is === 'stream') {
        // An invalid watch is refused when it begins.
        const run: typeof response.run = (send) =>
          response.run(send).catch((error: unknown) => send(watchLine('ERROR', toStatus(error))));
        return { is: 'stream', run };
      }
      const { status } = response;
      if (response.is === 'bytes') {
        const { contentType, body: bytes } = response;
        return {
          is: 'text',
          status,
          contentType,
          value: bytes,
          body: () => Buffer.from(bytes).toString('latin1'),
        };
      }
      return inJson(status, response.body, response.contentType);
    } catch (error) {
      const status = toStatus(error);
      return inJson(status.code, status);
    }
  };
};
