import type { AddressRules, CheckRunner } from '../../checks/index.ts';
import type { EventRecorder, KubeClient } from '../../kube/index.ts';
import type { ImageRequests, IntOrPercent, Ledger, NodeInfo, Summary } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { Notifier } from '../events/outbox.ts';
import type { ControllerMetrics } from '../kind-adapter.ts';
import type { Order } from './order.ts';

export interface ControllerOptions {
  client: KubeClient;
  env: Env;
  events: EventRecorder;
  /** Unique to this process: reservations and fences carry it. */
  identity: string;
  /** Default: all. */
  namespaces?: readonly string[];
  metrics?: ControllerMetrics;
  /** Receives the pods' requests for images. Default: nothing pulls images ahead. */
  images?: ImageRequests;
  /** Images are pulled ahead of updates also where no annotation asks for it. Default: false. */
  pullsByDefault?: boolean;
  /** The first wave of DaemonSets that do not set it. Default: the failure threshold. */
  firstWave?: IntOrPercent | undefined;
  /** Tells receivers outside of the cluster about rollouts. Default: nobody is told. */
  notifier?: Notifier | undefined;
  /** Between the updates of DaemonSets. Default: of those of this controller. */
  order?: Order | undefined;
  /** See `LedgerOptions`. */
  aheadMs?: (() => number) | undefined;
  /** Runs the checks of stages, and says which servers they may ask. Default: they are never evaluated, and hold. */
  checks?: { runner: CheckRunner; ownNamespace: string; rules: AddressRules } | undefined;
}

/**
 * The controller for one kind of DaemonSet. It keeps its caches whether it leads or not, so that a failover costs no list;
 * it writes only while `lead` runs.
 */
export interface Controller {
  /** Fills and keeps the caches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Reconciles until the signal aborts; resolves once no write is in flight. */
  lead(signal: AbortSignal): Promise<void>;
  /** The caches hold a consistent view of everything that is managed, but for DaemonSets whose pods can't be listed. */
  synced(): boolean;
  node(name: string): NodeInfo | undefined;
  /** Manages the DaemonSet of this UID. */
  serves(uid: string): boolean;
  /** The managed DaemonSets, for metrics. */
  snapshot(): Generator<RolloutSnapshot>;
}
export interface RolloutSnapshot {
  namespace: string;
  name: string;
  ledger: Ledger;
  /** Of the latest decision; undefined before the first. */
  summary: Summary | undefined;
  /** When a reconcile last succeeded, epoch ms; undefined before the first. */
  reconciledAt: number | undefined;
  /** Something about it cannot be computed: nothing of it is updated, and what its ledger holds may be wrong. */
  hasError: boolean;
}
