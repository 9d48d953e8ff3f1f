import { isIPv4, isIPv6 } from 'node:net';
import type { Env } from '../../runtime/index.ts';
import { errnoOf } from './errno.ts';
import { firstLine, OUTPUT_LIMIT } from './output.ts';
import type { SafeAnswer } from './types.ts';

const isLoopback = (hostname: string): boolean => {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIPv4(host)) return host.startsWith('127.');
  return isIPv6(host) ? host === '::1' : host === 'localhost';
};

/** Why this URL cannot be asked, with the cure. Without TLS, anyone on the way could say go ahead. */
export const urlProblem = (text: string): string | undefined => {
  if (!URL.canParse(text)) return 'is not a URL: give one such as http://127.0.0.1:8080/parked';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not hold a password: every user could read it';
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return 'must be https unless its host is this device (127.0.0.1, [::1] or localhost)';
  return undefined;
};

export interface GetOptions {
  env: Env;
  timeoutMs: number;
  signal: AbortSignal;
  query: Readonly<Record<string, string>>;
}

/** Asks once. A status of 2xx within the deadline is safe, and nothing else; redirects are not followed. */
export const getUrl = async (text: string, { env, timeoutMs, signal, query }: GetOptions): Promise<SafeAnswer> => {
  const url = new URL(text);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const { get } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  if (signal.aborted) return { safe: false, message: 'The agent stops.' };
  return new Promise((resolve) => {
    const finish = (answer: SafeAnswer): void => {
      timer.cancel();
      signal.removeEventListener('abort', stop);
      resolve(answer);
      request.destroy();
    };
    const stop = (): void => finish({ safe: false, message: 'The agent stops.' });
    const timer = env.clock.timer(timeoutMs, () =>
      finish({ safe: false, message: `The check gave no answer within ${timeoutMs / 1000} s.` }),
    );
    signal.addEventListener('abort', stop, { once: true });
    // No agent: no connection is kept, and no proxy of the environment comes in between.
    const request = get(url, { agent: false, headers: { accept: 'text/plain', 'user-agent': 'edgeset-agent' } });
    request.on('error', (error) =>
      finish({ safe: false, message: `The check cannot be reached (${errnoOf(error)}).` }),
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
      response.on('error', () => finish({ safe: false, message: 'The answer of the check was cut off.' }));
    });
  });
};
