import { advancedDaemonSetCrd } from '../../advanced/index.ts';
import { createClient, type KubeClient, loadClusterConfig } from '../../kube/index.ts';
import { daemonRolloutCrd } from '../../rollout/index.ts';
import { type Clock, type Env, silentLogger } from '../../runtime/index.ts';
import { version } from '../version.ts';
import type { DemoAgent, StartAgent } from './agent.ts';
import type { DemoCluster, StartCluster } from './cluster.ts';
import { createFastClock, type FastClock } from './fast-clock.ts';
import type { DemoManager, StartManager } from './manager.ts';
import { customResourceDefinitions } from './resources.ts';
import { DemoFailure } from './stage.ts';

/** What a run is made of: the product's own parts, or a test's. */
export interface Cast {
  startCluster: StartCluster;
  startManager: StartManager;
  startAgent: StartAgent;
}

export interface TheatreOptions {
  cast: Cast;
  /** Our own time. */
  clock: Clock;
  speed: number;
  random: () => number;
  /** Aborts when the person has seen enough. */
  signal: AbortSignal;
}

/** A cluster with its manager, up and running. */
export interface Theatre {
  cluster: DemoCluster;
  manager: DemoManager;
  /** In the cluster's time. */
  env: Env;
  clock: FastClock;
  /** Aborts with the person's, when the manager ends, and on `close`. */
  signal: AbortSignal;
  /** A connection of its own; `part` names it in the User-Agent. Closed with the rest. */
  connect(part: string): Promise<KubeClient>;
  /** The agent on a node, started when it is asked for first. */
  agent(node: string): Promise<DemoAgent>;
  close(): Promise<void>;
}

/** Starts the cluster, gives it the CRDs, and starts the manager. */
export const openTheatre = async ({ cast, clock, speed, random, signal }: TheatreOptions): Promise<Theatre> => {
  const fast = createFastClock({ base: clock, speed });
  const env: Env = { clock: fast, random, log: silentLogger };
  const ending = new AbortController();
  const clients: KubeClient[] = [];
  const agents = new Map<string, Promise<DemoAgent>>();
  let cluster: DemoCluster | undefined;
  let manager: DemoManager | undefined;

  const close = async (): Promise<void> => {
    ending.abort();
    // One that did not start has ended already.
    await Promise.allSettled(Array.from(agents.values(), async (agent) => (await agent).stop()));
    await manager?.stop();
    await manager?.ended.catch(() => undefined);
    await Promise.allSettled(clients.map((client) => client.close()));
    await cluster?.stop();
    fast.stop();
  };
  try {
    cluster = await cast.startCluster(env);
    const { kubeconfig } = cluster;
    const connect = async (part: string): Promise<KubeClient> => {
      const config = await loadClusterConfig({ kubeconfig, env: {} });
      const client = createClient(config, { env, userAgent: `edgeset-demo-${part}/${version}`, qps: 0 });
      clients.push(client);
      return client;
    };
    const setup = await connect('setup');
    for (const crd of [daemonRolloutCrd, advancedDaemonSetCrd])
      await setup.create(customResourceDefinitions, crd, { signal });
    manager = cast.startManager(kubeconfig, env);
    const lost = (): void => ending.abort(new DemoFailure('the manager to run', 'that it ended'));
    manager.ended.then(lost, lost);
    const agent = (node: string): Promise<DemoAgent> => {
      const known = agents.get(node);
      if (known) return known;
      const starting = cast.startAgent(kubeconfig, node, random);
      agents.set(node, starting);
      return starting;
    };
    const over = AbortSignal.any([signal, ending.signal]);
    return { cluster, manager, env, clock: fast, signal: over, connect, agent, close };
  } catch (error) {
    await close();
    throw error;
  }
};
