import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { type Clock, type Env, silentLogger, systemClock } from '../../runtime/index.ts';
import { createClient } from '../client/client.ts';
import type { ClientOptions } from '../client/options.ts';
import { defineResource } from '../client/resource.ts';
import type { KubeClient } from '../client/types.ts';
import type { ClusterConfig } from '../config/cluster-config.ts';
import type { Request, Response } from './hostile-server.ts';

export const testEnv = (clock: Clock = systemClock): Env => ({ clock, random: () => 0.5, log: silentLogger });

export const testPods = defineResource<Pod>({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
});

export const createTestClient = (
  server: string,
  config: Partial<ClusterConfig> = {},
  options: Partial<ClientOptions> = {},
): KubeClient =>
  createClient(
    {
      server,
      namespace: 'default',
      source: 'test',
      insecureSkipTlsVerify: config.certificateAuthority === undefined,
      auth: { token: { from: 'text', text: 'secret' } },
      ...config,
    },
    { env: testEnv(), userAgent: 'edgeset-test/0', qps: 0, terminal: false, ...options },
  );

// node:http and node:http2 overload these two methods differently; the common ground has to be named.
type Head = { writeHead(status: number, headers: Record<string, string>): unknown };

export const startJson = (response: Response, status = 200, headers: Record<string, string> = {}): void => {
  const head: Head = response;
  head.writeHead(status, { 'content-type': 'application/json', ...headers });
};

export const writeText = (response: Response, text: string | Uint8Array): void => {
  const body: { write(chunk: string | Uint8Array): unknown } = response;
  body.write(text);
};

export const sendJson = (
  response: Response,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void => {
  startJson(response, status, headers);
  response.end(JSON.stringify(value));
};

export const readBody = async (request: Request): Promise<string> => {
  const chunks: Uint8Array[] = [];
  const bytes: AsyncIterable<Uint8Array> = request;
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

/** Answers once the request's body is there. */
export const onBody = (request: Request, answer: (body: string) => void): void => {
  void (async () => answer(await readBody(request)))();
};
