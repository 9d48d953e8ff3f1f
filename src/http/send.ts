import type { IncomingMessage, ServerResponse } from 'node:http';
import { discard } from './body.ts';
import { type HttpResponse, safeHeaders } from './response.ts';

/** Sends the response. A request that is refused before its body was read ends its connection, once the rest has been drained. */
export const sendResponse = (
  request: IncomingMessage,
  response: ServerResponse,
  { close, status, contentType, body = '', headers = {} }: HttpResponse,
): void => {
  if (!request.complete) discard(request);
  const unread = !request.complete && Number(request.headers['content-length'] ?? 1) > 0;
  for (const [name, value] of Object.entries({ ...safeHeaders, ...headers })) response.setHeader(name, value);
  if (contentType !== undefined) response.setHeader('content-type', contentType);
  if (status !== 204 && status !== 304) response.setHeader('content-length', Buffer.byteLength(body));
  if (close || unread) response.setHeader('connection', 'close');
  response.writeHead(status);
  response.end(request.method === 'HEAD' ? undefined : body);
};
