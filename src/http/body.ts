import type { IncomingMessage } from 'node:http';
import { failure, type HttpResponse } from './response.ts';

// A refused client may still be sending its body. Reading this much of it lets the client receive the response.
const DISCARDED_BYTES = 256 * 1024;

/** Drains the rest of a request's body, within bounds. */
export const discard = (request: IncomingMessage): void => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARDED_BYTES) request.destroy();
  });
  request.on('error', () => undefined);
};

const bodyTooLarge = (maxBytes: number): HttpResponse =>
  failure(413, `the body must not exceed ${maxBytes} bytes`, { cause: 'BodyTooLarge', close: true });

/** The whole body as text; undefined when it is too large. Rejects when the connection closes before the body ends. */
const readBody = async (request: IncomingMessage, maxBytes: number): Promise<string | undefined> => {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const tooLarge = Promise.withResolvers<boolean>();
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) tooLarge.resolve(true);
    else chunks.push(chunk);
  });
  request.on('end', () => tooLarge.resolve(false));
  request.on('error', tooLarge.reject);
  request.on('close', () => tooLarge.reject(new Error('the connection closed before the end of the body')));
  return (await tooLarge.promise) ? undefined : Buffer.concat(chunks).toString('utf8');
};

const isJson = (contentType: string | undefined): boolean =>
  /^application\/json *(; *charset="?utf-8"? *)?$/i.test(contentType ?? '');

export type JsonBody = { kind: 'object'; value: Record<string, unknown> } | { kind: 'refused'; response: HttpResponse };

/** Reads and drops the body that a request without one in its contract may still have: it may have no stated length. */
export const dropBody = async (request: IncomingMessage, maxBytes: number): Promise<JsonBody> =>
  (await readBody(request, maxBytes)) === undefined
    ? { kind: 'refused', response: bodyTooLarge(maxBytes) }
    : { kind: 'object', value: {} };

/** Reads a JSON object. The content type must be JSON: an HTML form can't send that without a CORS preflight. */
export const readJson = async (request: IncomingMessage, maxBytes: number): Promise<JsonBody> => {
  const refused = (response: HttpResponse): JsonBody => ({ kind: 'refused', response });
  if (!isJson(request.headers['content-type']))
    return refused(failure(415, 'send the body as application/json', { cause: 'NotJson' }));
  const text = await readBody(request, maxBytes);
  if (text === undefined) return refused(bodyTooLarge(maxBytes));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused(failure(400, 'the body is not JSON', { cause: 'MalformedBody' }));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused(failure(400, 'the body is not a JSON object', { cause: 'MalformedBody' }));
  return { kind: 'object', value: { ...value } };
};
