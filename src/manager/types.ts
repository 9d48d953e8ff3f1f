import type {
  ControllerMetrics,
  ControllerOptions,
  Controller as KindController,
  Notifier,
  Order,
} from '../controller/index.ts';
import type { EventRecorder, KubeClient } from '../kube/index.ts';
import type { Controller as BaseController, RequiredApi } from '../leading/index.ts';
import type { Summary } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import type { Cause, DaemonRolloutStage, Phase } from '../words/index.ts';

/** One rollout, for metrics; without its counts while something about it cannot be computed. */
export type RolloutCounts =
  | ComputedCounts
  | (Pick<ComputedCounts, 'namespace' | 'name' | 'reconciledAt'> & { hasError: true });

export interface ComputedCounts {
  namespace: string;
  /** Of the DaemonSet. */
  name: string;
  phases: Readonly<Record<Phase, number>>;
  halted: boolean;
  /** Of every cause that any node has. */
  causes: readonly { phase: Phase; cause: Cause; count: number }[];
  /** When the target changed, epoch ms; undefined while it is the first that we know. */
  startedAt: number | undefined;
  /** When all online nodes had been updated, epoch ms. */
  finishedAt: number | undefined;
  /** Owners who have not approved the target; undefined unless owners decide. */
  ownersAsked: number | undefined;
  /** Of its plan; empty without one. */
  stages: readonly Pick<DaemonRolloutStage, 'name' | 'state' | 'nodes' | 'awaits'>[];
  /** Of the latest decision; undefined before the first. */
  summary: Summary | undefined;
  /** When a reconcile last succeeded, epoch ms. */
  reconciledAt: number | undefined;
  hasError: false;
}

/** A controller as the manager runs it. */
export interface Controller extends BaseController {
  rollouts(): Iterable<RolloutCounts>;
}

/** What a controller contributes to the image prefetch. */
export type ImageSource = Pick<KindController, 'node' | 'serves'>;

/** What a controller receives from it. */
export interface ImageClient {
  options: Pick<ControllerOptions, 'images' | 'pullsByDefault'>;
  /** The controller no longer reconciles anything. */
  leave(): void;
}

/** The image prefetch, which all controllers share. */
export interface ImageService {
  join(source: ImageSource): ImageClient;
  controller: Controller;
}

export interface ControllerParts {
  client: KubeClient;
  env: Env;
  events: EventRecorder;
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  /** Hold Advanced DaemonSets while OpenKruise's manager has its Lease. Default: true. */
  checksOpenKruiseLease?: boolean;
  /** The identity of this process in the Lease and in fences. */
  identity: string;
  metrics: ControllerMetrics;
  /** Default: no images are prefetched. */
  images?: ImageService;
  /** Default: nobody outside of the cluster is told. */
  notifier?: Notifier | undefined;
  /** Between the updates of the DaemonSets of all controllers. */
  order?: Order;
  /** See `LedgerOptions`. */
  aheadMs?: () => number;
  /** See `ControllerOptions`. */
  firstWave?: ControllerOptions['firstWave'];
  /** Default: the checks of stages hold. */
  checks?: ControllerOptions['checks'];
}

export interface ControllerDefinition {
  /** In `--controllers` and in metrics. */
  name: string;
  requires: readonly RequiredApi[];
  /** The API that it reconciles, if that is optional: the controller is idle until it is installed. */
  serves?: RequiredApi;
  create(parts: ControllerParts): Controller;
}
