import { nodes } from '../src/kube/index.ts';
import type { Clock, Env, Timer } from '../src/runtime/index.ts';
import { createApiServer } from './apiserver/index.ts';
import {
  type Controls,
  createDaemonSetController,
  createEventTtlController,
  createGarbageCollector,
  createNodeLifecycleController,
  createPodGarbageCollector,
  createScheduler,
  disableEvents,
  type GarbageCollector,
} from './controllers/index.ts';
import { createKubelets, type Delays, kubeletLabels } from './kubelet/index.ts';
import type { ApiServer } from './types.ts';

/** A view of the clock whose timers can all be cancelled at once. */
const createScopedClock = (clock: Clock): { clock: Clock; end(): void } => {
  const open = new Set<Timer>();
  let ended = false;
  return {
    clock: {
      now: () => clock.now(),
      timer(delayMs, fire) {
        if (ended) return { cancel: () => undefined };
        const inner = clock.timer(delayMs, () => {
          open.delete(timer);
          fire();
        });
        const timer: Timer = {
          cancel() {
            open.delete(timer);
            inner.cancel();
          },
        };
        open.add(timer);
        return timer;
      },
    },
    end() {
      ended = true;
      for (const timer of open) timer.cancel();
    },
  };
};

export interface EmbeddedClusterOptions {
  /** Its clock is the cluster's time; its random source makes names, UIDs and jitter. */
  env: Env;
  /** A node is unreachable after this many milliseconds of silence. Default 40,000. */
  graceMs?: number;
  /** Pod delays. Default: 1 to 1.5 s to start, 0.5 to 0.75 s to stop. */
  delays?: Partial<Delays>;
  /** Whether controllers and kubelets record Events. Default true. */
  events?: boolean;
}

export interface EmbeddedNode {
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  taints?: readonly { key: string; value?: string; effect: string }[];
}

/** The controllers, with their fault controls. */
export interface EmbeddedControllers {
  daemonSets: Controls;
  scheduler: Controls;
  nodeLifecycle: Controls;
  podGc: Controls;
  garbageCollector: Controls & Pick<GarbageCollector, 'pace'>;
}

/** A Kubernetes cluster in this process. */
export interface EmbeddedCluster {
  readonly apiServer: ApiServer;
  readonly controllers: EmbeddedControllers;
  /** Creates the Node object. As for any Node that is created, a kubelet starts for it. */
  readonly addNode: (name: string, node?: EmbeddedNode) => void;
  /** Stops all controllers and kubelets, and cancels all timers. */
  readonly close: () => void;
}

const DEFAULT_GRACE_MS = 40_000;
const DEFAULT_DELAYS: Delays = { startMs: 1000, stopMs: 500, dieMs: 3000, backOffMs: 2000 };

/** Starts the API server, controllers and kubelets, without nodes. */
export const createEmbeddedCluster = (options: EmbeddedClusterOptions): EmbeddedCluster => {
  const { graceMs = DEFAULT_GRACE_MS } = options;
  const scope = createScopedClock(options.env.clock);
  const env = { ...options.env, clock: scope.clock };
  const delays = { ...DEFAULT_DELAYS, ...options.delays };
  const apiServer = createApiServer({ clock: env.clock, random: env.random });
  if (options.events === false) disableEvents(apiServer);
  const controllers = {
    garbageCollector: createGarbageCollector(apiServer, env),
    nodeLifecycle: createNodeLifecycleController({ apiServer, env, graceMs }),
    daemonSets: createDaemonSetController(apiServer, env),
    scheduler: createScheduler(apiServer, env),
    podGc: createPodGarbageCollector(apiServer, env),
  };
  const others = [createKubelets({ apiServer, env, delays, graceMs }), createEventTtlController(apiServer, env.clock)];
  return {
    apiServer,
    controllers,
    addNode(name, { labels, annotations, taints = [] } = {}) {
      apiServer.create<object>(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: { ...kubeletLabels(name), ...labels }, ...(annotations && { annotations }) },
        spec: { taints },
      });
    },
    close() {
      for (const each of [...Object.values(controllers), ...others]) each.close();
      scope.end();
    },
  };
};
