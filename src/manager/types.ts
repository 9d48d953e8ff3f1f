import type { ControllerMetrics } from '../controller/index.ts';
import type { EventRecorder, KubeClient } from '../kube/index.ts';
import type { Phase } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import type { ImageService } from './image-service.ts';

/** One rollout, for metrics. */
export interface RolloutCounts {
  namespace: string;
  /** Of the DaemonSet. */
  name: string;
  phases: Readonly<Record<Phase, number>>;
  halted: boolean;
}

/** A controller as the manager runs it: its caches always, its writes only while leading. */
export interface Controller {
  /** Runs the caches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Reconciles until the signal aborts; resolves when every in-flight write has settled. */
  lead(signal: AbortSignal): Promise<void>;
  /** The caches have synced. */
  synced(): boolean;
  rollouts(): Iterable<RolloutCounts>;
}

export interface ControllerParts {
  client: KubeClient;
  env: Env;
  events: EventRecorder;
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  /** The identity of this process in the Lease and in fences. */
  identity: string;
  metrics: ControllerMetrics;
  /** Default: no images are prefetched. */
  images?: ImageService;
}

/** An API that the API server must serve, and how to install it. */
export interface RequiredApi {
  group: string;
  version: string;
  plural: string;
  cure: string;
}

export interface ControllerDefinition {
  /** In `--controllers` and in metrics. */
  name: string;
  requires: readonly RequiredApi[];
  /** The API that it reconciles, if that is optional: the controller is idle until it is installed. */
  serves?: RequiredApi;
  create(parts: ControllerParts): Controller;
}
