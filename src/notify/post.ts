import { createOutgoing, type OutgoingOptions, type OutgoingResult } from '../http/index.ts';

type Response = Extract<OutgoingResult, { kind: 'response' }>;

export interface PostRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** The authorities to trust instead of the public ones, PEM. */
  ca: string | undefined;
}

/** `refused`: the same request would be refused again. No text contains the URL, which may be a secret. */
export type PostResult =
  | { kind: 'delivered' }
  | { kind: 'refused'; why: string }
  | { kind: 'failed'; why: string; retryAfterMs?: number };

/** What is read of the response to a request that failed, to say why. */
const MAX_REASON = 200;
/** Statuses below 500 that somebody, or time, may remedy: by the credentials, by the address, by the receiver's limits. */
const CURABLE: ReadonlySet<number> = new Set([401, 403, 404, 408, 425, 429]);

const retryAfterOf = ({ headers }: Response, now: number): { retryAfterMs?: number } => {
  const text = headers['retry-after'];
  if (text === undefined) return {};
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? { retryAfterMs: Math.max(0, ms) } : {};
};

const resultOf = (response: Response, now: number): PostResult => {
  const { status, body } = response;
  const printable = body.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
  const why = `HTTP ${status}${printable && `: ${printable}`}`;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status >= 300 && status < 400)
    return { kind: 'failed', why: `HTTP ${status}: redirects are not followed; configure the URL that it leads to` };
  if (status >= 400 && status < 500 && !CURABLE.has(status)) return { kind: 'refused', why };
  return { kind: 'failed', why, ...retryAfterOf(response, now) };
};

export type Post = (post: PostRequest, signal: AbortSignal) => Promise<PostResult>;

/**
 * Sends one request on its own connection; never rejects. It follows no redirect, reads a few hundred bytes of the
 * response, and ends in time whatever the receiver does.
 */
export const createPost = (options: OutgoingOptions): Post => {
  const send = createOutgoing(options);
  const { clock } = options;
  // An answer that settles the matter is not read.
  const maxBytes = (status: number): number => (status >= 200 && status < 400 ? 0 : MAX_REASON);
  return async (post, signal) => {
    const result = await send({ method: 'POST', ...post, maxBytes }, signal);
    if (result.kind === 'response') return resultOf(result, clock.now());
    const remedy = result.untrusted ? '; set ca if the authority of its certificate is your own' : '';
    return { kind: 'failed', why: `${result.why}${remedy}` };
  };
};
