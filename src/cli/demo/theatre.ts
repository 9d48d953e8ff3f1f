import { createClient, type KubeClient, loadClusterConfig } from '../../kube/index.ts';
import { type Clock, type Env, silentLogger } from '../../runtime/index.ts';
import { version } from '../version.ts';
import type { DemoCluster, StartCluster } from './cluster.ts';
import { createFastClock, type FastClock } from './fast-clock.ts';
import type { DemoManager, StartManager } from './manager.ts';
import { DemoFailure } from './stage.ts';

/** What a run is made of: the product's own parts, or a test's. */
export interface Cast {
  startCluster: StartCluster;
  startManager: StartManager;
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
  close(): Promise<void>;
}

export const openTheatre = async ({ cast, clock, speed, random, signal }: TheatreOptions): Promise<Theatre> => {
  const fast = createFastClock({ base: clock, speed });
  const env: Env = { clock: fast, random, log: silentLogger };
  const ending = new AbortController();
  const clients: KubeClient[] = [];
  let cluster: DemoCluster;
  try {
    cluster = await cast.startCluster(env);
  } catch (error) {
    fast.stop();
    throw error;
  }
  const manager = cast.startManager(cluster.kubeconfig, env);
  const lost = (): void => ending.abort(new DemoFailure('the manager to run', 'that it ended'));
  const ended = manager.ended.then(lost, lost);
  return {
    cluster,
    manager,
    env,
    clock: fast,
    signal: AbortSignal.any([signal, ending.signal]),
    async connect(part) {
      const config = await loadClusterConfig({ kubeconfig: cluster.kubeconfig, env: {} });
      const client = createClient(config, { env, userAgent: `edgeset-demo-${part}/${version}`, qps: 0 });
      clients.push(client);
      return client;
    },
    async close() {
      ending.abort();
      await manager.stop();
      await ended;
      await Promise.allSettled(clients.map((client) => client.close()));
      await cluster.stop();
      fast.stop();
    },
  };
};
