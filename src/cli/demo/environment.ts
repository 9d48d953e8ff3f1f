import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { advancedDaemonSetCrd } from '../../advanced/index.ts';
import { runAgentProcess } from '../../agent/index.ts';
import { customResourceDefinitions, type KubeClient } from '../../kube/index.ts';
import { runManagerProcess } from '../../manager/index.ts';
import { daemonRolloutCrd } from '../../rollout/index.ts';
import { type Clock, type Env, silentLogger, systemClock } from '../../runtime/index.ts';
import {
  createEmbeddedCluster,
  createInProcessClient,
  type EmbeddedCluster,
  startHttpsServer,
} from '../../sim/index.ts';
import { version } from '../version.ts';
import { createFastClock } from './fast-clock.ts';
import { DemoFailure } from './step.ts';

/** The manager, running in this process. */
export interface DemoManager {
  /** Settles when the manager has ended, on its own or after `stop`. */
  ended: Promise<unknown>;
  stop(): Promise<void>;
  /** The last lines of its log. */
  log(): readonly string[];
}

export interface ManagerEnvironment {
  kubeconfig: string;
  /** An in-process client, for the managers of tests. */
  client: KubeClient;
  /** In the cluster's time. */
  env: Env;
}

export type StartManager = (environment: ManagerEnvironment) => DemoManager;

export interface EnvironmentOptions {
  startManager?: StartManager | undefined;
  /** Real time. */
  clock: Clock;
  speed: number;
  random: () => number;
  signal: AbortSignal;
}

const LOG_LINES_KEPT = 200;

/** Stands in for `process` of a program that runs inside this process. */
const createHost = () => {
  const emitter = new EventEmitter();
  const process = {
    // Unhandled rejections and exceptions concern the real process.
    on: (event: string, handler: (value: unknown) => void) =>
      event.startsWith('SIG') ? emitter.on(event, handler) : emitter,
    off: (event: string, handler: (value: unknown) => void) => emitter.off(event, handler),
    exit: () => undefined,
  };
  return { process, terminate: () => void emitter.emit('SIGTERM', 'SIGTERM') };
};

/**
 * Starts the manager as `edgeset manager` runs it, over HTTPS. It runs in this process to share the cluster's clock,
 * which is faster than real time. It needs no leader election: it is the only one.
 */
const startProductManager: StartManager = ({ kubeconfig, env }) => {
  const host = createHost();
  const lines: string[] = [];
  const flags = { kubeconfig, leaderElect: 'false', metricsBindAddress: '0', healthProbeBindAddress: '0' };
  const ended = runManagerProcess(flags, {
    version,
    clock: env.clock,
    random: env.random,
    terminal: true,
    environment: {},
    stderr(text) {
      lines.push(text.trimEnd());
      if (lines.length > LOG_LINES_KEPT) lines.shift();
    },
    process: host.process,
  });
  const stop = async (): Promise<void> => {
    host.terminate();
    await ended;
  };
  return { ended, stop, log: () => lines };
};

/**
 * Starts the agent as `edgeset agent` runs it, in real time: it waits for people and networks. It reaches the cluster
 * through an HTTPS server of its own, so that its link can be cut.
 */
const startAgent = async ({ apiServer }: EmbeddedCluster, node: string, random: () => number) => {
  const options = { apiServer, wallClock: systemClock };
  let link = await startHttpsServer(options);
  const { certificate, token } = link;
  const port = Number(new URL(link.server).port);
  const folder = await mkdtemp(path.join(tmpdir(), 'edgeset-agent-'));
  const kubeconfig = path.join(folder, 'kubeconfig');
  await writeFile(kubeconfig, link.kubeconfig(), { mode: 0o600 });

  const host = createHost();
  let log = '';
  const serving = Promise.withResolvers<string>();
  const flags = {
    kubeconfig,
    nodeName: node,
    listen: '127.0.0.1:0',
    stateDir: path.join(folder, 'state'),
    // The user who runs the demo acts as the owner.
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
      const address = /"address":"([^"]+)"/.exec(text)?.[1];
      if (address !== undefined) serving.resolve(address);
    },
    process: host.process,
  });
  const stop = async (): Promise<void> => {
    host.terminate();
    await ended.catch(() => undefined);
    await link.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const failed = ended.then(() => {
    throw new Error(`the agent ended: ${log}`);
  });
  try {
    const address = await Promise.race([serving.promise, failed]);
    failed.catch(() => undefined);
    return {
      /** Calls the agent's API, as curl on the device does. */
      async call(method: 'GET' | 'POST', route: string): Promise<{ status: number; text: string }> {
        const response = await fetch(new URL(route, `http://${address}`), { method });
        return { status: response.status, text: await response.text() };
      },
      cutLink: () => link.stop(),
      async restoreLink(): Promise<void> {
        link = await startHttpsServer({ ...options, port, certificate, token });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

export type DemoAgent = Awaited<ReturnType<typeof startAgent>>;

/** Starts the cluster, installs the CRDs, and starts the manager. */
export const startEnvironment = async (options: EnvironmentOptions) => {
  const { random, signal, startManager = startProductManager } = options;
  const clock = createFastClock({ base: options.clock, speed: options.speed });
  const env: Env = { clock, random, log: silentLogger };
  const cluster = createEmbeddedCluster({ env });
  const { apiServer } = cluster;
  const client = createInProcessClient(apiServer);
  const server = await startHttpsServer({ apiServer, wallClock: systemClock });
  const folder = await mkdtemp(path.join(tmpdir(), 'edgeset-demo-'));
  const kubeconfig = path.join(folder, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig(), { mode: 0o600 });
  for (const crd of [daemonRolloutCrd, advancedDaemonSetCrd]) await client.create(customResourceDefinitions, crd);
  const ending = new AbortController();
  const manager = startManager({ kubeconfig, client, env });
  const lost = (): void => ending.abort(new DemoFailure('the manager to run', 'that it ended'));
  manager.ended.then(lost, lost);
  const agents = new Map<string, Promise<DemoAgent>>();
  return {
    cluster,
    manager,
    /** Acts as the user of the cluster. */
    client,
    kubeconfig,
    /** The cluster's time. */
    clock,
    /** Aborts with the user's signal, when the manager ends, and on `close`. */
    signal: AbortSignal.any([signal, ending.signal]),
    /** The agent of a node, started on first use. */
    agent: (node: string): Promise<DemoAgent> => {
      const agent = agents.get(node) ?? startAgent(cluster, node, random);
      agents.set(node, agent);
      return agent;
    },
    async close(): Promise<void> {
      ending.abort();
      // An agent that failed to start has already ended.
      await Promise.allSettled(Array.from(agents.values(), async (agent) => (await agent).stop()));
      await manager.stop().catch(() => undefined);
      cluster.close();
      await server.stop();
      clock.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
export type Environment = Awaited<ReturnType<typeof startEnvironment>>;
