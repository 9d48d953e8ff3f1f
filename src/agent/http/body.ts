import type { IncomingMessage } from 'node:http';
import { failure, type HttpResponse } from './response.ts';

export type Body = { kind: 'text'; text: string } | { kind: 'refused'; answer: HttpResponse };

// What an impatient client may still send after it was refused: enough for it to read why.
const DISCARDED_BYTES = 256 * 1024;

/** Lets the rest of a body pass by unread, within bounds. */
export const discard = (request: IncomingMessage): void => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARDED_BYTES) request.destroy();
  });
  request.on('error', () => undefined);
};

const tooLarge = (most: number): Body => ({
  kind: 'refused',
  answer: failure(413, `a body has at most ${most} bytes`, { cause: 'BodyTooLarge', close: true }),
});

/** The whole body as text. Rejects when the connection ends before the body does. */
export const readBody = async (request: IncomingMessage, most: number): Promise<Body> => {
  if (Number(request.headers['content-length'] ?? 0) > most) return tooLarge(most);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const over = Promise.withResolvers<boolean>();
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > most) over.resolve(true);
    else chunks.push(chunk);
  });
  request.on('end', () => over.resolve(false));
  request.on('error', over.reject);
  request.on('close', () => over.reject(new Error('the connection was closed within the body')));
  return (await over.promise) ? tooLarge(most) : { kind: 'text', text: Buffer.concat(chunks).toString('utf8') };
};

const isJson = (contentType: string | undefined): boolean =>
  /^application\/json *(; *charset="?utf-8"? *)?$/i.test(contentType ?? '');

export type JsonBody = { kind: 'object'; value: Record<string, unknown> } | { kind: 'refused'; answer: HttpResponse };

/** A JSON object. Its content type must say so: a form of a web page cannot send that without asking first. */
export const readJson = async (request: IncomingMessage, most: number): Promise<JsonBody> => {
  if (!isJson(request.headers['content-type']))
    return {
      kind: 'refused',
      answer: failure(415, 'send the body as application/json', { cause: 'NotJson' }),
    };
  const body = await readBody(request, most);
  if (body.kind === 'refused') return body;
  let value: unknown;
  try {
    value = JSON.parse(body.text);
  } catch {
    return { kind: 'refused', answer: failure(400, 'the body is not JSON', { cause: 'MalformedBody' }) };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { kind: 'refused', answer: failure(400, 'the body is not a JSON object', { cause: 'MalformedBody' }) };
  return { kind: 'object', value: { ...value } };
};
