import type { TestContext } from 'node:test';
import { silentLogger, systemClock } from '../../../runtime/index.ts';
import type { ListenOptions } from '../listen.ts';
import { type AgentServer, type AgentServerOptions, createAgentServer } from '../server.ts';
import { createFakeBackend, type FakeBackend } from './fake-backend.ts';

export const onLoopback: ListenOptions = {
  tcp: { host: '127.0.0.1', port: 0 },
  tls: undefined,
  unixSocket: undefined,
  allowedHosts: [],
};

const page = [
  { path: '/', contentType: 'text/html; charset=utf-8', body: '<!doctype html><p>page', etag: '"a"' },
  { path: '/main-5X3QKJ2A.js', contentType: 'text/javascript', body: '1', etag: '"b"' },
];

export interface Started {
  backend: FakeBackend;
  server: AgentServer;
  /** `host:port` */
  address: string;
  url: string;
  /** Status and refusal of each response. */
  answers: [number, string | undefined][];
}

/** A server with a fake agent that allows the user who runs the test. It closes with the test. */
export const startServer = async (t: TestContext, changes: Partial<AgentServerOptions> = {}): Promise<Started> => {
  const backend = createFakeBackend();
  const answers: Started['answers'] = [];
  const server = await createAgentServer({
    backend,
    env: { clock: systemClock, random: () => 0.5, log: silentLogger },
    listen: onLoopback,
    auth: { allowedUids: new Set([process.getuid?.() ?? -1]), tokens: undefined },
    page: () => Promise.resolve(page),
    version: '0',
    onResponse: (status, refusal) => answers.push([status, refusal]),
    ...changes,
  });
  t.after(() => server.close());
  const address = server.address ?? '';
  return { backend, server, address, url: `http://${address}`, answers };
};
