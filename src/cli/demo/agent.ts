import { EventEmitter } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { runAgentProcess } from '../../agent/index.ts';
import { version } from '../version.ts';
import { startRelay } from './relay.ts';

/** The agent of one node, with the link that its device has to the cluster. */
export interface DemoAgent {
  /** As curl on the device does. */
  call(method: 'GET' | 'POST', route: string): Promise<{ status: number; text: string }>;
  cut(): void;
  heal(): void;
  stop(): Promise<void>;
}

export type StartAgent = (kubeconfig: string, node: string, random: () => number) => Promise<DemoAgent>;

interface Kubeconfig {
  clusters: { cluster: { server: string } }[];
}

/**
 * The agent as `edgeset agent` runs it, in this process, so that nothing has to be built or started beside the demo. It
 * lives in our own time and not in the cluster's, which passes faster: what it waits for is people and networks.
 */
export const startAgent: StartAgent = async (kubeconfig, node, random) => {
  const config = parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig;
  const [first] = config.clusters;
  if (!first) throw new Error('the kubeconfig names no cluster');
  const server = new URL(first.cluster.server);
  const relay = await startRelay({ host: server.hostname, port: Number(server.port) });
  server.port = String(relay.port);
  first.cluster.server = server.origin;
  const folder = await mkdtemp(path.join(tmpdir(), 'edgeset-agent-'));
  const own = path.join(folder, 'kubeconfig');
  await writeFile(own, stringify(config), { mode: 0o600 });

  const host = new EventEmitter();
  let log = '';
  const serving = Promise.withResolvers<string>();
  const flags = {
    kubeconfig: own,
    nodeName: node,
    listen: '127.0.0.1:0',
    stateDir: path.join(folder, 'state'),
    // Whoever runs the demo plays the owner.
    allowUser: [String(process.getuid?.() ?? 0)],
    logFormat: 'json',
  };
  const ended = runAgentProcess(flags, {
    version,
    random,
    terminal: false,
    environment: {},
    stderr(text) {
      log += text;
      for (const line of text.split('\n')) {
        const address = line === '' ? undefined : (JSON.parse(line) as { address?: unknown }).address;
        if (typeof address === 'string') serving.resolve(address);
      }
    },
    process: {
      // Losing a rejection or an exception is the business of the process as a whole.
      on: (event, handler) => (event.startsWith('SIG') ? host.on(event, handler) : host),
      off: (event, handler) => host.off(event, handler),
      exit: () => undefined,
    },
  });
  const stop = async (): Promise<void> => {
    host.emit('SIGTERM', 'SIGTERM');
    await ended.catch(() => undefined);
    await relay.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const failed = ended.then(() => {
    throw new Error(`the agent ended: ${log}`);
  });
  try {
    const address = await Promise.race([serving.promise, failed]);
    failed.catch(() => undefined);
    return {
      async call(method, route) {
        const answer = await fetch(new URL(route, address.includes('://') ? address : `http://${address}`), { method });
        return { status: answer.status, text: await answer.text() };
      },
      cut: relay.cut,
      heal: relay.heal,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
