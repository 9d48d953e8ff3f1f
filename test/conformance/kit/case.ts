import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Event } from 'kubernetes-types/events/v1.d.ts';
import type { Condition } from 'kubernetes-types/meta/v1.d.ts';
import type { AdvancedDaemonSet } from '../../../src/kinds/advanced/index.ts';
import type { DaemonRollout, DaemonRolloutStatus } from '../../../src/words/index.ts';
import type { AuditRecord } from '../../judge/audit/audit-record.ts';
import type { PodWrite, PodWriteKind } from '../../judge/state/pod-writes.ts';
import type { Cluster, Manager, NodeSpec } from '../cluster.ts';
import type { Link } from '../link.ts';
import type { Api } from './api.ts';
import type { CaseKind } from './kinds.ts';
import type { Annotations, PodView, Shape } from './objects.ts';
import type { Truthy } from './until.ts';

export interface CaseOptions {
  /** Of its DaemonSets. Default native. */
  kind?: CaseKind;
  /** How many, named after the case so that their order is their alphabet's; or their names. Default 3. */
  nodes?: number | readonly string[];
  node?: NodeSpec;
  /** Further arguments of the manager; `none` starts none. It serves the case's namespace, without leader election. */
  manager?: readonly string[] | 'none';
  /** Names of the DaemonSets to check; helpers use the first one. Default `app`. */
  daemonSets?: readonly [string, ...string[]];
  /** DaemonSets of the other kind to check, with their budgets. */
  others?: readonly { name: string; kind: CaseKind; budget: number | `${number}%` }[];
  /** The budget to check updates against, if it is not the DaemonSet's annotation. */
  budget?: number | `${number}%`;
  /** Log lines above `info` that belong to what is done to the manager. */
  expected?: RegExp;
  /** The case makes the API server refuse writes. */
  refusals?: boolean;
}

export type Status = DaemonRolloutStatus;

/** One case's own part of the cluster. */
export interface Case {
  readonly cluster: Cluster;
  readonly api: Api;
  readonly namespace: string;
  /** Sorted by name. */
  readonly nodes: readonly string[];
  readonly manager: Manager;

  /** Starts another manager for the case's namespace, without leader election unless `args` say otherwise. */
  startManager(how?: {
    args?: readonly string[];
    link?: Link;
    clockAheadMs?: number;
    unreadable?: boolean;
  }): Promise<Manager>;
  addNodes(names: readonly string[], spec?: NodeSpec): Promise<void>;
  /** Creates the DaemonSet; one of a kind other than the case's is not checked. */
  create(shape?: Shape, kind?: CaseKind): Promise<DaemonSet>;
  /** Creates the DaemonSet, and resolves once all its pods are ready and the rollout is complete. */
  rolledOut(shape?: Shape): Promise<void>;
  /** A DaemonSet that is rolled out gets this image. */
  startRollout(image: string, shape?: Shape): Promise<void>;
  /** The fields that both kinds have in common. */
  daemonSet(name?: string): Promise<DaemonSet>;
  /** In a case of Advanced DaemonSets. */
  advanced(name?: string): Promise<AdvancedDaemonSet>;
  /** Changes the template: the image of its first container. */
  setImage(image: string, name?: string): Promise<DaemonSet>;
  /** Changes the image, and resolves once all nodes run it and the rollout is complete. */
  bringTo(image: string): Promise<void>;
  /** Patches the DaemonSet: a strategic merge patch for a native one, a JSON merge patch for an Advanced one. */
  change(patch: unknown, name?: string): Promise<DaemonSet>;
  annotate(annotations: Annotations, name?: string): Promise<DaemonSet>;

  pods(name?: string): Promise<PodView[]>;
  /** Makes the node's current pod fail its probe; resolves when it is not ready. */
  breakPod(node: string | undefined): Promise<PodView>;
  podOn(node: string | undefined): Promise<PodView>;
  /** Nodes whose pod runs this image and is ready, sorted. */
  running(image: string): Promise<string[]>;
  rollout(name?: string): Promise<DaemonRollout | undefined>;
  /** The status of the DaemonRollout; throws while there is none. */
  status(name?: string): Promise<Status>;
  condition(type: string, name?: string): Promise<Condition | undefined>;
  /** Events on the DaemonSet, oldest first; with `reason`, those of that reason. */
  events(reason?: string, name?: string): Promise<Event[]>;
  /** Updates of nodes by managers of this case in order, each as its first write: deletes, in-place changes, surges. */
  updates(): Promise<AuditRecord[]>;
  /** Their writes to pods of the DaemonSet by kind, without those that continue an earlier one. */
  podWrites(kind?: PodWriteKind): Promise<PodWrite[]>;
  updatedNodes(): Promise<string[]>;
  /** All calls of the case's managers. */
  calls(): Promise<AuditRecord[]>;

  until<T>(what: string, probe: () => Promise<T> | T, withinMs?: number, everyMs?: number): Promise<Truthy<T>>;
  /** Resolves as soon as managers have begun this many updates. */
  untilUpdates(count: number, withinMs?: number): Promise<readonly AuditRecord[]>;
  /** Resolves when these nodes, default all, run the image, ready. */
  untilRunning(image: string, nodes?: readonly string[], withinMs?: number): Promise<void>;
  /** Resolves when these nodes, default all, run the image, ready, and the rollout is complete. */
  untilComplete(image: string, nodes?: readonly string[], withinMs?: number): Promise<void>;
  /** Resolves when a condition of the DaemonRollout has this status. */
  untilCondition(type: string, status?: 'True' | 'False', withinMs?: number): Promise<Condition>;
  /** Resolves when the DaemonRollout has the target as the last complete revision: only then is the way to it a way back. */
  untilRecorded(): Promise<unknown>;
  untilEvent(reason: string, withinMs?: number): Promise<Event>;
  /** The same, and it is a Warning. */
  untilWarning(reason: string, withinMs?: number): Promise<Event>;
  /** Fails if a manager begins an update within this many seconds from now. */
  expectNoUpdatesFor(seconds: number): Promise<void>;
  kubectl(args: readonly string[], input?: string): Promise<string>;
}
