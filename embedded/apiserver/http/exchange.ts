import type { Json } from '../json.ts';
import type { User } from '../storage/tokens.ts';

/** One request, after authentication. */
export interface Request {
  readonly method: string;
  readonly path: string;
  /** The Host header. */
  readonly host: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly contentType: string;
  readonly userAgent: string;
  readonly user: User;
  body(): Promise<Buffer>;
  /** What the body says, if that is known already. */
  readonly value?: unknown;
  /** Aborts when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
}

export type Response =
  | {
      readonly is: 'json';
      readonly status: number;
      readonly body: unknown;
      readonly contentType?: string;
      readonly warnings?: readonly string[];
    }
  | { readonly is: 'bytes'; readonly status: number; readonly body: string | Uint8Array; readonly contentType: string }
  /** Lines, until `run` settles; `send` sends one. */
  | { readonly is: 'stream'; readonly run: (send: (line: WatchLine) => void) => Promise<void> };

export interface WatchLine {
  readonly event: { readonly type: string; readonly object: Json };
  /** The event as JSON, with a newline. */
  readonly text: () => string;
}

export const watchLine = (type: string, object: Json): WatchLine => ({
  event: { type, object },
  text: () => `${JSON.stringify({ type, object })}\n`,
});

export const json = (body: unknown, status = 200, warnings: readonly string[] = []): Response => ({
  is: 'json',
  status,
  body,
  warnings,
});

export const success = (details: Json): Json => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details,
});
