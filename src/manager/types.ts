import type { ControllerMetrics } from '../controller/index.ts';
import type { EventRecorder, KubeClient } from '../kube/index.ts';
import type { Phase } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import type { ImageService } from './image-service.ts';

/** One rollout as metrics show it. */
export interface RolloutCounts {
  namespace: string;
  /** Of the DaemonSet. */
  name: string;
  phases: Readonly<Record<Phase, number>>;
  halted: boolean;
}

/** A controller as the manager runs it: caches always, acts only while leading. */
export interface Controller {
  /** Fills the caches and keeps them until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Acts until the signal aborts; resolves when every act in the air is settled. */
  lead(signal: AbortSignal): Promise<void>;
  /** The caches hold a consistent state of the cluster. */
  synced(): boolean;
  rollouts(): Iterable<RolloutCounts>;
}

export interface ControllerParts {
  client: KubeClient;
  env: Env;
  events: EventRecorder;
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  /** Of this process, as the Lease and fences name it. */
  identity: string;
  observe: ControllerMetrics;
  /** Default: nobody pulls images ahead. */
  images?: ImageService;
}

/** A kind of object that must be served before a controller can do anything, and how to get it. */
export interface RequiredApi {
  group: string;
  version: string;
  plural: string;
  cure: string;
}

export interface ControllerDefinition {
  /** As in `--controllers` and in metrics. */
  name: string;
  requires: readonly RequiredApi[];
  /** What it serves, where that need not be installed: it rests for as long as that is not there. Default: always there. */
  serves?: RequiredApi;
  create(parts: ControllerParts): Controller;
}
