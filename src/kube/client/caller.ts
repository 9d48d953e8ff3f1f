import { backoffMs, sleep } from '../../runtime/index.ts';
import { ConfigError } from '../config/cluster-config.ts';
import { type CallTimeout, startCallTimeout } from '../transport/call-timeout.ts';
import type { Connection } from '../transport/connection.ts';
import { ExchangeError, type HttpResponse } from '../transport/exchange.ts';
import type { RequestReport, ResolvedClientOptions } from './client-options.ts';
import { isKubeError, KubeError } from './errors.ts';
import type { RateLimiter } from './rate-limit.ts';
import { errorFromStatus, parseRetryAfter } from './status.ts';
import type { CallOptions } from './types.ts';

export interface Call {
  verb: RequestReport['verb'];
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the query. */
  path: string;
  /** For metrics. */
  resource: string;
  body?: unknown;
  /** The body as it is sent, instead of `body` as JSON. */
  text?: string | undefined;
  contentType?: string;
}

export interface Caller {
  /** The whole answer, under the retry rules. */
  text(call: Call, options: CallOptions): Promise<string>;
  /** Like `text`, parsed. An answer that is not a JSON object is `Malformed`. */
  json(call: Call, options: CallOptions): Promise<object>;
  /** One attempt; the answer's stream. The deadline is the caller's to end. */
  open(call: Call, deadline: CallTimeout): Promise<HttpResponse>;
}

const READ_BACKOFF = { baseMs: 100, maxMs: 5_000 };
/** A refusal is waited out at most this long: a server that asks for more is asked again by the caller's own loop. */
const LONGEST_RETRY_AFTER_MS = 30_000;
const MAX_ERROR_BYTES = 64 * 1024;

const isWrite = (call: Call): boolean => call.method !== 'GET';

const header = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** The body as bytes; throws `Malformed` above `limit`, or keeps the first `limit` bytes when `cut` is set. */
const readBody = async (response: HttpResponse, limit: number, cut: boolean): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > limit) {
      if (cut) break;
      throw new KubeError('Malformed', `the answer is larger than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const parseObject = (text: string): object => {
  let value: unknown;
  let cause: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    cause = error;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new KubeError('Malformed', 'the answer is not a JSON object', { cause });
};

export const createCaller = (connection: Connection, limiter: RateLimiter, options: ResolvedClientOptions): Caller => {
  const { env, maxRetries, maxBodyBytes, onRequest } = options;

  /** Puts what went wrong in the contract's words. The outer signal's reason goes through as it is. */
  const translate = (error: unknown, call: Call, deadline: CallTimeout, sent: boolean): unknown => {
    const context = `${call.method} ${call.path}`;
    const happened = isWrite(call) && sent ? 'unknown' : 'no';
    if (deadline.expired) return new KubeError('Timeout', `${context}: timed out`, { happened, cause: error });
    if (deadline.signal.aborted) return deadline.signal.reason;
    if (error instanceof ExchangeError) {
      const surely = isWrite(call) && error.sent ? 'unknown' : 'no';
      return new KubeError('Transport', `${context}: ${error.message}`, { happened: surely, cause: error.cause });
    }
    if (error instanceof ConfigError)
      return new KubeError('Unauthorized', `${context}: no usable credentials: ${error.message}`, { cause: error });
    if (isKubeError(error, 'Malformed'))
      return new KubeError('Malformed', `${context}: ${error.message}`, { happened, cause: error });
    return error;
  };

  const open = async (call: Call, deadline: CallTimeout, progress = { sent: false }): Promise<HttpResponse> => {
    const headers = ['accept', 'application/json'];
    const body = call.text ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    if (body !== undefined) headers.push('content-type', call.contentType ?? 'application/json');
    let response: HttpResponse | undefined;
    const startedAt = env.clock.now();
    const report = (code: string, date = ''): void => {
      const seconds = (env.clock.now() - startedAt) / 1000;
      const { verb, method, resource } = call;
      const serverTime = Date.parse(date);
      const told = Number.isNaN(serverTime) ? {} : { serverTime };
      onRequest({ verb, method, host: connection.host, code, resource, seconds, ...told });
    };
    try {
      // From here on bytes may leave; an ExchangeError that knows better says so itself.
      progress.sent = true;
      response = await connection.send({ method: call.method, path: call.path, headers, body }, deadline.signal);
    } catch (error) {
      if (error instanceof ExchangeError) progress.sent = error.sent;
      report('<error>');
      throw translate(error, call, deadline, progress.sent);
    }
    report(String(response.status), header(response.headers.date));
    if (response.status >= 200 && response.status < 300) return response;
    const refusal = response;
    const text = await readBody(refusal, MAX_ERROR_BYTES, true).catch(() => Buffer.alloc(0));
    let status: unknown;
    try {
      status = JSON.parse(text.toString('utf8'));
    } catch {
      status = undefined;
    }
    throw errorFromStatus(status, {
      status: refusal.status,
      write: isWrite(call),
      retryAfterSeconds: parseRetryAfter(header(refusal.headers['retry-after']), env.clock.now()),
      context: `${call.method} ${call.path}`,
    });
  };

  /** How long to wait before the next attempt; undefined when there must be none. */
  const retryDelay = (call: Call, error: unknown, failures: number): number | undefined => {
    if (!isKubeError(error) || failures > maxRetries) return undefined;
    const again =
      error.code === 'TooManyRequests' ||
      (error.code === 'Transport' && error.happened === 'no') ||
      // Over HTTP/2 a reset stream can look like one that ended: what was cut short is then no JSON.
      (!isWrite(call) && (error.code === 'Malformed' || (error.status >= 500 && error.status !== 501)));
    if (!again) return undefined;
    const backoff = backoffMs(failures, READ_BACKOFF, env.random);
    if (error.retryAfterSeconds === undefined) return backoff;
    const asked = error.retryAfterSeconds * 1000;
    return asked > LONGEST_RETRY_AFTER_MS ? undefined : asked + backoff;
  };

  const complete = async <T>(call: Call, callOptions: CallOptions, parse: (text: string) => T): Promise<T> => {
    const deadline = startCallTimeout(env.clock, callOptions.timeoutMs ?? options.timeoutMs, callOptions.signal);
    try {
      for (let failures = 1; ; failures += 1) {
        const progress = { sent: false };
        try {
          await limiter.take(deadline.signal);
          const response = await open(call, deadline, progress);
          return parse((await readBody(response, maxBodyBytes, false)).toString('utf8'));
        } catch (raw) {
          const error = translate(raw, call, deadline, progress.sent);
          const delay = retryDelay(call, error, failures);
          // A wait that the deadline would cut helps nobody: the refusal itself says more than a timeout.
          if (delay === undefined || delay >= deadline.remainingMs()) throw error;
          await sleep(env.clock, delay, deadline.signal).catch(() => {
            throw translate(error, call, deadline, false);
          });
        }
      }
    } finally {
      deadline.release();
    }
  };

  return {
    text: (call, callOptions) => complete(call, callOptions, (text) => text),
    json: (call, callOptions) => complete(call, callOptions, parseObject),
    open: async (call, deadline) => {
      try {
        await limiter.take(deadline.signal);
      } catch (error) {
        throw translate(error, call, deadline, false);
      }
      return open(call, deadline);
    },
  };
};
