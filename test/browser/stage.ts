import { createAgentServer, loadOwnerPage } from '../../src/agent/http/index.ts';
import { silentLogger, systemClock } from '../../src/runtime/index.ts';
import type { AgentBackend } from '../../web/owner/types.ts';

export interface Served {
  port: number;
  close(): Promise<void>;
}

const page = loadOwnerPage();

/** Serves a backend like the agent does, with the owner's page and its Content-Security-Policy. */
export const serve = async (backend: AgentBackend, port = 0): Promise<Served> => {
  const server = await createAgentServer({
    backend,
    env: { clock: systemClock, random: Math.random, log: silentLogger },
    listen: { tcp: { host: '127.0.0.1', port }, tls: undefined, unixSocket: undefined, allowedHosts: [] },
    auth: { allowedUids: new Set([process.getuid?.() ?? 0]), tokens: undefined },
    page: () => page,
    version: 'test',
  });
  return { port: Number(server.address?.split(':').at(-1)), close: () => server.close() };
};
