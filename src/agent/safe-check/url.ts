import { isIPv4, isIPv6 } from 'node:net';
import type { Env } from '../../runtime/index.ts';
import { errnoOf } from '../errno.ts';
import { firstLine, OUTPUT_LIMIT, type SafeAnswer, STOPPING, timedOut } from './answer.ts';

const isLoopback = (hostname: string): boolean => {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIPv4(host)) return host.startsWith('127.');
  return isIPv6(host) ? host === '::1' : host === 'localhost';
};

/** Why the URL can't be the check, and how to fix that. Without TLS, anyone on the network path could approve updates. */
export const urlProblem = (text: string): string | undefined => {
  if (!URL.canParse(text)) return 'is not a URL: give one such as http://127.0.0.1:8080/parked';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not contain a password: every user could read it';
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return 'must use https unless its host is this device (127.0.0.1, [::1] or localhost)';
  return undefined;
};

export interface GetOptions {
  env: Env;
  timeoutMs: number;
  signal: AbortSignal;
  query: Readonly<Record<string, string>>;
}

/** Sends one GET. Only a 2xx status within the timeout means safe; redirects are not followed. */
export const getUrl = async (text: string, { env, timeoutMs, signal, query }: GetOptions): Promise<SafeAnswer> => {
  const url = new URL(text);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const { get } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  if (signal.aborted) return STOPPING;
  return new Promise((resolve) => {
    const finish = (answer: SafeAnswer): void => {
      timer.cancel();
      signal.removeEventListener('abort', stop);
      resolve(answer);
      request.destroy();
    };
    const stop = (): void => finish(STOPPING);
    const timer = env.clock.timer(timeoutMs, () => finish(timedOut(timeoutMs)));
    signal.addEventListener('abort', stop, { once: true });
    // Without an http.Agent, no connection is kept open and no proxy from the environment is used.
    const request = get(url, { agent: false, headers: { accept: 'text/plain', 'user-agent': 'edgeset-agent' } });
    request.on('error', (error) =>
      finish({ safe: false, message: `The check is unreachable (${errnoOf(error) ?? 'unknown error'}).` }),
    );
    request.on('response', (response) => {
      const status = response.statusCode ?? 0;
      const safe = status >= 200 && status < 300;
      let body = Buffer.alloc(0);
      const answer = (): void => finish({ safe, message: firstLine(body) || `HTTP status ${status}.` });
      response.on('data', (data: Buffer) => {
        body = Buffer.concat([body, data]).subarray(0, OUTPUT_LIMIT);
        if (body.length === OUTPUT_LIMIT) answer();
      });
      response.on('end', answer);
      response.on('error', () => finish({ safe: false, message: 'The response of the check was cut off.' }));
    });
  });
};
