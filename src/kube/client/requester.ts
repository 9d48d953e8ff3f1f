import { backoffMs, sleep } from '../../runtime/index.ts';
import { ConfigError } from '../config/cluster-config.ts';
import { createSeatQueue, type LeaveSeat } from '../queue/seats.ts';
import { type CallTimeout, startCallTimeout } from '../transport/call-timeout.ts';
import { type HttpResponse, RoundTripError } from '../transport/round-trip.ts';
import type { Transport } from '../transport/transport.ts';
import { isKubeError, KubeError } from './errors.ts';
import type { RequestReport, ResolvedClientOptions } from './options.ts';
import { createRateLimiter } from './rate-limit.ts';
import { namespaceOf } from './resource.ts';
import { errorFromStatus, parseRetryAfter } from './status.ts';
import type { CallOptions } from './types.ts';

export interface ApiRequest {
  verb: RequestReport['verb'];
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the query. */
  path: string;
  /** For metrics. */
  resource: string;
  body?: unknown;
  /** The serialized body, instead of `body` as JSON. */
  text?: string | undefined;
  contentType?: string;
  /** Default: JSON. */
  accept?: string | undefined;
}

/** Requests with limits of rate, number and time, retries, and errors in the terms of the API. */
export interface Requester {
  /** The complete response, under the retry rules. */
  text(request: ApiRequest, options: CallOptions): Promise<string>;
  /** Like `text`, parsed. A response that is not a JSON object is `Malformed`. */
  json(request: ApiRequest, options: CallOptions): Promise<object>;
  /** The response as a stream, after a single attempt. The caller releases the timeout. */
  stream(request: ApiRequest, timeout: CallTimeout): Promise<HttpResponse>;
}

const READ_BACKOFF = { baseMs: 100, maxMs: 5_000 };
/** Longest Retry-After that is waited for here. A server that asks for more is left to the caller's own retry loop. */
const LONGEST_RETRY_AFTER_MS = 30_000;
const MAX_ERROR_BYTES = 64 * 1024;
/** A call that takes longer keeps no call of another namespace waiting. */
const SLOW_CALL_MS = 2_000;
/** Of larger bodies, only so many are in memory at the same time: a parsed one takes several times its size. */
const LARGE_BYTES = 1024 * 1024;
const LARGE_BODIES = 2;

const isWrite = ({ method }: ApiRequest): boolean => method !== 'GET';

const header = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** The first `limit` bytes of the body, and whether there were more. `onChunk` delays what follows the bytes so far. */
const readBody = async (
  response: HttpResponse,
  limit: number,
  onChunk: (bytes: number) => Promise<void> | void = () => undefined,
): Promise<{ body: Buffer; cut: boolean }> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let cut = false;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    cut = bytes > limit;
    if (cut) break;
    chunks.push(chunk);
    await onChunk(bytes);
  }
  return { body: Buffer.concat(chunks), cut };
};

const parseObject = (text: string, parse: (text: string) => unknown): object => {
  let value: unknown;
  let cause: unknown;
  try {
    value = parse(text);
  } catch (error) {
    cause = error;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new KubeError('Malformed', 'the response is not a JSON object', { cause });
};

export const createRequester = (transport: Transport, options: ResolvedClientOptions): Requester => {
  const { env, maxRetries, maxBodyBytes, onRequest } = options;
  const limiter = createRateLimiter(env.clock, options.qps, options.burst);
  const total = options.maxInFlight;
  const seats = { clock: env.clock, total, perGroup: Math.ceil(total / 2), slowMs: SLOW_CALL_MS };
  const calls = createSeatQueue(seats);
  /** All watches of a process may end together, and calls must not wait until all are open again. */
  const openings = createSeatQueue(seats);
  const largeBodies = createSeatQueue({ ...seats, total: LARGE_BODIES, perGroup: LARGE_BODIES, slowMs: Infinity });

  /** Turns failures into `KubeError`s. The reason of the caller's own signal passes through unchanged. */
  const translate = (error: unknown, request: ApiRequest, timeout: CallTimeout, sent: boolean): unknown => {
    const context = `${request.method} ${request.path}`;
    const happened = isWrite(request) && sent ? 'unknown' : 'no';
    if (timeout.expired) return new KubeError('Timeout', `${context}: timed out`, { happened, cause: error });
    if (timeout.signal.aborted) return timeout.signal.reason;
    if (error instanceof RoundTripError) {
      const mayHave = isWrite(request) && error.sent ? 'unknown' : 'no';
      return new KubeError('Transport', `${context}: ${error.message}`, { happened: mayHave, cause: error.cause });
    }
    if (error instanceof ConfigError)
      return new KubeError('Unauthorized', `${context}: no usable credentials: ${error.message}`, { cause: error });
    if (isKubeError(error, 'Malformed', 'TooLarge'))
      return new KubeError(error.code, `${context}: ${error.message}`, { happened, cause: error });
    return error;
  };

  const open = async (request: ApiRequest, timeout: CallTimeout, progress = { sent: false }): Promise<HttpResponse> => {
    const headers: Record<string, string> = { accept: request.accept ?? 'application/json' };
    const body = request.text ?? (request.body === undefined ? undefined : options.stringify(request.body));
    if (body !== undefined) {
      headers['content-type'] = request.contentType ?? 'application/json';
      headers['content-length'] = String(Buffer.byteLength(body));
    }
    let response: HttpResponse | undefined;
    const startedAt = env.clock.now();
    const report = (code: string, date = ''): void => {
      // One reading: a process may be stopped between two.
      const receivedAt = env.clock.now();
      const seconds = (receivedAt - startedAt) / 1000;
      const { verb, method, resource } = request;
      const serverTime = Date.parse(date);
      const dated = Number.isNaN(serverTime) ? {} : { serverTime, receivedAt };
      onRequest({ verb, method, host: transport.host, code, resource, seconds, ...dated });
    };
    try {
      // From here on bytes may leave, unless a RoundTripError says otherwise.
      progress.sent = true;
      response = await transport.send({ method: request.method, path: request.path, headers, body }, timeout.signal);
    } catch (error) {
      if (error instanceof RoundTripError) progress.sent = error.sent;
      report('<error>');
      throw translate(error, request, timeout, progress.sent);
    }
    report(String(response.status), header(response.headers.date));
    if (response.status >= 200 && response.status < 300) return response;
    const text = await readBody(response, MAX_ERROR_BYTES).then(
      ({ body: bytes }) => bytes.toString('utf8'),
      () => '',
    );
    let status: unknown;
    try {
      status = JSON.parse(text);
    } catch {
      status = undefined;
    }
    throw errorFromStatus(status, {
      status: response.status,
      write: isWrite(request),
      retryAfterSeconds: parseRetryAfter(header(response.headers['retry-after']), env.clock.now()),
      context: `${request.method} ${request.path}`,
    });
  };

  /** How long to wait before the next attempt; undefined when there must be none. */
  const retryDelay = (request: ApiRequest, error: unknown, failures: number): number | undefined => {
    if (!isKubeError(error) || failures > maxRetries) return undefined;
    const retryable =
      error.code === 'TooManyRequests' ||
      (error.code === 'Transport' && error.happened === 'no') ||
      // Over HTTP/2 a reset stream can look like one that ended: a truncated body is then not valid JSON.
      (!isWrite(request) && (error.code === 'Malformed' || (error.status >= 500 && error.status !== 501)));
    if (!retryable) return undefined;
    const backoff = backoffMs(failures, READ_BACKOFF, env.random);
    if (error.retryAfterSeconds === undefined) return backoff;
    const asked = error.retryAfterSeconds * 1000;
    return asked > LONGEST_RETRY_AFTER_MS ? undefined : asked + backoff;
  };

  /** Reads and parses the body. A server must not be able to fill the memory, whatever it sends and however much at once. */
  const readAll = async <T>(response: HttpResponse, signal: AbortSignal, parse: (text: string) => T): Promise<T> => {
    let leave: LeaveSeat | undefined;
    try {
      const { body, cut } = await readBody(response, maxBodyBytes, async (bytes) => {
        if (bytes > LARGE_BYTES) leave ??= await largeBodies.acquire('', signal);
      });
      if (cut) throw new KubeError('TooLarge', `the response is larger than ${maxBodyBytes} bytes`);
      return parse(body.toString('utf8'));
    } finally {
      leave?.();
    }
  };

  const complete = async <T>(request: ApiRequest, call: CallOptions, parse: (text: string) => T): Promise<T> => {
    const timeout = startCallTimeout(env.clock, call.timeoutMs ?? options.timeoutMs, call.signal);
    const mayRepeat = call.mayRepeat ?? (() => true);
    const group = namespaceOf(request.path);
    let leave: LeaveSeat | undefined;
    try {
      leave = await calls.acquire(group, timeout.signal).catch((error: unknown) => {
        throw translate(error, request, timeout, false);
      });
      // The seat is kept between attempts: a server that doesn't work is not to be asked by the next in line.
      for (let failures = 1; ; failures += 1) {
        const progress = { sent: false };
        try {
          await limiter.take(timeout.signal);
          const response = await open(request, timeout, progress);
          return await readAll(response, timeout.signal, parse);
        } catch (raw) {
          const error = translate(raw, request, timeout, progress.sent);
          const tooMany = isKubeError(error, 'TooManyRequests');
          if (tooMany) calls.narrow(group);
          const delay = retryDelay(request, error, failures);
          // When the call would time out while waiting, report the refusal: it says more than a timeout.
          if (delay === undefined || delay >= timeout.remainingMs() || !mayRepeat()) throw error;
          try {
            // A busy server does work: fewer calls than before continue meanwhile.
            if (tooMany) leave();
            await sleep(env.clock, delay, timeout.signal);
            if (tooMany) leave = await calls.acquire(group, timeout.signal);
          } catch {
            throw translate(error, request, timeout, false);
          }
          if (!mayRepeat()) throw error;
        }
      }
    } finally {
      leave?.();
      timeout.release();
    }
  };

  return {
    text: (request, call) => complete(request, call, (text) => text),
    json: (request, call) => complete(request, call, (text) => parseObject(text, options.parse)),
    stream: async (request, timeout) => {
      const group = namespaceOf(request.path);
      let leave: LeaveSeat | undefined;
      try {
        leave = await openings.acquire(group, timeout.signal);
        await limiter.take(timeout.signal);
        return await open(request, timeout);
      } catch (error) {
        if (isKubeError(error, 'TooManyRequests')) openings.narrow(group);
        throw translate(error, request, timeout, false);
      } finally {
        leave?.();
      }
    },
  };
};
