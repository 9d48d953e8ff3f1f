import type { Clock, Env, Timer } from '../runtime/index.ts';
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
} from './controllers/index.ts';
import { createKubelets, type Delays, kubeletLabels } from './kubelet/index.ts';
import { nodes } from './resources.ts';
import type { ApiServer } from './types.ts';

/** The same clock, whose timers can all be ended at once. */
export const createScopedClock = (clock: Clock): { clock: Clock; end(): void } => {
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
  /** Its clock is the cluster's time; its chance makes names, UIDs and jitter. */
  env: Env;
  /** A node that is silent for so long is not ready, milliseconds. Default 40 000. */
  graceMs?: number;
  /** How long pods take. Default: started after 1 to 1.5 s, stopped after 0.5 to 0.75 s. */
  delays?: Partial<Delays>;
  /** Do its controllers and kubelets tell Events? Default true. */
  events?: boolean;
}

export interface EmbeddedNode {
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  taints?: readonly { key: string; value?: string; effect: string }[];
}

/** Controllers that can be stopped, slowed and made to see late. */
export interface EmbeddedControllers {
  daemonSets: Controls;
  scheduler: Controls;
  nodeLifecycle: Controls;
  podGc: Controls;
  garbageCollector: Controls;
}

/** A Kubernetes cluster in this process. */
export interface EmbeddedCluster {
  readonly apiServer: ApiServer;
  readonly controllers: EmbeddedControllers;
  /** Creates the Node object; its kubelet comes with it, as with any Node that is created. */
  readonly addNode: (name: string, node?: EmbeddedNode) => void;
  /** Nothing happens afterwards. */
  readonly close: () => void;
}

const DEFAULT_GRACE_MS = 40_000;
const DEFAULT_DELAYS: Delays = { startMs: 1000, stopMs: 500, dieMs: 3000, backOffMs: 2000 };

/** Starts the API server and everything that acts on it; there are no nodes yet. */
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
