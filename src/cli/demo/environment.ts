import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type ApiServer,
  createEmbeddedCluster,
  createInProcessClient,
  startHttpsServer,
} from '../../../embedded/index.ts';
import { runAgentProcess } from '../../agent/index.ts';
import { advancedDaemonSetCrd } from '../../kinds/advanced/index.ts';
import { customResourceDefinitions, type KubeClient } from '../../kube/index.ts';
import { type ManagerHost, runManagerProcess } from '../../manager/index.ts';
import { anySignal, type Clock, type Env, silentLogger, systemClock } from '../../runtime/index.ts';
import { daemonRolloutCrd, planCrds } from '../../words/index.ts';
import { version } from '../version.ts';
import { createFastClock } from './fast-clock.ts';
import { startMetrics } from './metrics.ts';

/** The cluster did not do what the demo shows. */
export class DemoFailure extends Error {
  readonly code = 'DemoFailure';
  override readonly name = 'DemoFailure';
}

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
  /** Where the checks of rollout plans ask. */
  prometheusAddress: string;
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

/** Runs a program of edgeset inside this process. It gets a stand-in for `process`, and SIGTERM from `stop`. */
const runInProcess = (
  random: () => number,
  run: (host: ManagerHost) => Promise<unknown>,
  onLog = (_text: string): void => undefined,
) => {
  const signals = new EventEmitter();
  const lines: string[] = [];
  const ended = run({
    version,
    random,
    terminal: true,
    environment: {},
    stderr(text) {
      lines.push(text.trimEnd());
      if (lines.length > LOG_LINES_KEPT) lines.shift();
      onLog(text);
    },
    process: {
      // Unhandled rejections and exceptions concern the real process.
      on: (event, handler) => (event.startsWith('SIG') ? signals.on(event, handler) : signals),
      off: (event, handler) => signals.off(event, handler),
      exit: () => undefined,
    },
  });
  const stop = async (): Promise<void> => {
    signals.emit('SIGTERM', 'SIGTERM');
    await ended;
  };
  return { ended, stop, log: () => lines };
};

/**
 * Starts the manager as `edgeset manager` runs it, over HTTPS. It runs in this process to share the cluster's clock,
 * which is faster than real time. It needs no leader election: it is the only one.
 */
const startProductManager: StartManager = ({ kubeconfig, prometheusAddress, env: { clock, random } }) => {
  const endpoints = { metricsBindAddress: '0', healthProbeBindAddress: '0' };
  const flags = { kubeconfig, prometheusAddress, leaderElect: 'false', ...endpoints };
  return runInProcess(random, (host) => runManagerProcess(flags, { ...host, clock }));
};

const readableByOwner = { mode: 0o600 };

/**
 * Starts the agent as `edgeset agent` runs it, in real time: it waits for people and networks. It reaches the cluster
 * through its own HTTPS server, so that its link can be cut. Its files are in `folder`.
 */
const startAgent = async (apiServer: ApiServer, node: string, folder: string, random: () => number) => {
  const options = { apiServer, wallClock: systemClock };
  let link = await startHttpsServer(options);
  const { certificate, token } = link;
  const port = Number(new URL(link.server).port);
  const kubeconfig = path.join(folder, `${node}.kubeconfig`);
  await writeFile(kubeconfig, link.kubeconfig(), readableByOwner);
  const flags = {
    kubeconfig,
    nodeName: node,
    listen: '127.0.0.1:0',
    stateDir: path.join(folder, node),
    // The user who runs the demo acts as the owner.
    allowUser: [String(process.getuid?.() ?? 0)],
    logFormat: 'json',
  };
  const serving = Promise.withResolvers<string>();
  const program = runInProcess(
    random,
    (host) => runAgentProcess(flags, host),
    (text) => {
      const address = /"address":"([^"]+)"/.exec(text)?.[1];
      if (address !== undefined) serving.resolve(address);
    },
  );
  const stop = async (): Promise<void> => {
    await program.stop().catch(() => undefined);
    await link.stop();
  };
  const failed = (cause: unknown): void =>
    serving.reject(new Error(`the agent ended: ${program.log().join('\n')}`, { cause }));
  program.ended.then(failed, failed);
  try {
    const address = await serving.promise;
    return {
      /** Calls the agent's API, as curl on the device does: `GET /pods`. */
      async call(request: string): Promise<{ status: number; text: string }> {
        const [method = '', route = ''] = request.split(' ');
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

/** Starts the cluster, installs the CRDs, and starts the manager. */
export const startEnvironment = async (options: EnvironmentOptions) => {
  const { random, signal, startManager = startProductManager } = options;
  const clock = createFastClock({ base: options.clock, speed: options.speed });
  const env: Env = { clock, random, log: silentLogger };
  const cluster = createEmbeddedCluster({ env });
  const { apiServer } = cluster;
  const client = createInProcessClient(apiServer);
  const server = await startHttpsServer({ apiServer, wallClock: systemClock });
  const metrics = await startMetrics(clock);
  const folder = await mkdtemp(path.join(tmpdir(), 'edgeset-demo-'));
  const kubeconfig = path.join(folder, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig(), readableByOwner);
  for (const crd of [daemonRolloutCrd, ...planCrds, advancedDaemonSetCrd])
    await client.create(customResourceDefinitions, crd);
  const ending = new AbortController();
  const manager = startManager({ kubeconfig, prometheusAddress: metrics.address, client, env });
  const lost = (): void => ending.abort(new DemoFailure('expected the manager to run; saw that it ended'));
  manager.ended.then(lost, lost);
  const agents = new Map<string, ReturnType<typeof startAgent>>();
  return {
    cluster,
    manager,
    /** Acts as the user of the cluster. */
    client,
    kubeconfig,
    metrics,
    random,
    /** The cluster's time. */
    clock,
    /** Aborts with the user's signal, when the manager ends, and on `close`. */
    signal: anySignal(signal, ending.signal),
    /** The agent of a node, started on first use. */
    agent: (node: string): ReturnType<typeof startAgent> => {
      const agent = agents.get(node) ?? startAgent(apiServer, node, folder, random);
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
      await metrics.close();
      clock.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
export type Environment = Awaited<ReturnType<typeof startEnvironment>>;
