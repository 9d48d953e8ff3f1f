import { createAgentServer } from '../../src/agent/http/index.ts';
import { silentLogger, systemClock } from '../../src/runtime/index.ts';
import type { AgentBackend } from '../../web/owner/types.ts';
import { NOW } from './fixtures.ts';

export interface Served {
  port: number;
  close(): Promise<void>;
}

const page = import('#owner-page').then(({ ownerPage }) => ownerPage());

// It is the same day for the agent as for the page, whenever the tests run.
const aheadMs = Date.parse(NOW) - systemClock.now();
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };

/** Serves a backend like the agent does, with the owner's page and its Content-Security-Policy. */
export const serve = async (backend: AgentBackend, port = 0): Promise<Served> => {
  const server = await createAgentServer({
    backend,
    env: { clock, random: Math.random, log: silentLogger },
    listen: { tcp: { host: '127.0.0.1', port }, tls: undefined, unixSocket: undefined, allowedHosts: [] },
    auth: { allowedUids: new Set([process.getuid?.() ?? 0]), tokens: undefined },
    page: () => page,
    version: 'test',
  });
  return { port: Number(server.address?.split(':').at(-1)), close: () => server.close() };
};
