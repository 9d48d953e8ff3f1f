import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type Clock, linkedController } from '../runtime/index.ts';

export interface OutgoingRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** The authorities to trust instead of the public ones, PEM. */
  ca?: string | undefined;
  /** The name in the certificate, if it is not that of the URL. */
  serverName?: string | undefined;
  insecureSkipVerify?: boolean | undefined;
  /** How much is read of the body of a response with this status. */
  maxBytes: (status: number) => number;
}

/** No text contains the URL, which may be a secret. */
export type OutgoingResult =
  | {
      kind: 'response';
      status: number;
      headers: IncomingHttpHeaders;
      body: string;
      /** Why `body` is not all of it. */
      incomplete: string | undefined;
    }
  | {
      kind: 'failed';
      why: string;
      /** The certificate is not one that is trusted. */
      untrusted: boolean;
    };

export interface OutgoingOptions {
  clock: Clock;
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
  environment: Readonly<Record<string, string | undefined>>;
  /** For everything, from the name's resolution to the end of the response. */
  timeoutMs: number;
}

export type Outgoing = (outgoing: OutgoingRequest, signal: AbortSignal) => Promise<OutgoingResult>;

/**
 * Sends one request on its own connection; never rejects. It follows no redirect, reads no more of the response than it
 * is asked to, and ends in time whatever the server does.
 */
export const createOutgoing =
  ({ clock, environment, timeoutMs }: OutgoingOptions): Outgoing =>
  (outgoing, signal) =>
    new Promise((resolve) => {
      const { method, url, headers, body, ca, serverName, insecureSkipVerify = false, maxBytes } = outgoing;
      const { controller, unlink } = linkedController(signal);
      let isLate = false;
      const timer = clock.timer(timeoutMs, () => {
        isLate = true;
        controller.abort();
      });
      const isTls = new URL(url).protocol === 'https:';
      const agentOptions = { keepAlive: false, proxyEnv: { ...environment } };
      const options = {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) },
        signal: controller.signal,
        ...(isTls && ca !== undefined && { ca }),
        ...(isTls && serverName !== undefined && { servername: serverName }),
        ...(isTls && insecureSkipVerify && { rejectUnauthorized: false }),
      };
      let response: IncomingMessage | undefined;
      const chunks: Buffer[] = [];
      let left = 0;
      let isCut = false;
      let failure: { why: string; untrusted: boolean } = {
        why: 'the receiver closed the connection',
        untrusted: false,
      };
      const onResponse = (answer: IncomingMessage): void => {
        response = answer;
        left = maxBytes(answer.statusCode ?? 0);
        answer.on('error', () => undefined);
        // Whatever it continues to send.
        const take = (chunk: Buffer): void => {
          isCut ||= chunk.length > left;
          chunks.push(chunk.subarray(0, left));
          left -= Math.min(left, chunk.length);
          if (isCut) request.destroy();
        };
        if (left > 0) answer.on('data', take);
        else {
          isCut = true;
          request.destroy();
        }
      };
      const request = isTls
        ? httpsRequest(url, { ...options, agent: new HttpsAgent(agentOptions) }, onResponse)
        : httpRequest(url, { ...options, agent: new HttpAgent(agentOptions) }, onResponse);
      request.on('error', (error) => {
        const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
        failure = isLate
          ? { why: `no response within ${timeoutMs} ms`, untrusted: false }
          : { why: error.message || code, untrusted: /CERT|SIGNATURE|SELF_SIGNED/.test(code) };
      });
      const incompleteOf = (answer: IncomingMessage): string | undefined => {
        if (isCut) return 'the response is too long';
        if (answer.complete) return undefined;
        return isLate ? `no complete response within ${timeoutMs} ms` : 'the connection was closed within the response';
      };
      request.on('close', () => {
        timer.cancel();
        unlink();
        resolve(
          response
            ? {
                kind: 'response',
                status: response.statusCode ?? 0,
                headers: response.headers,
                body: Buffer.concat(chunks).toString('utf8'),
                incomplete: incompleteOf(response),
              }
            : { kind: 'failed', ...failure },
        );
      });
      request.end(body);
    });
