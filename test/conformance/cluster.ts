import type { KubeClient } from '../../src/kube/index.ts';
import type { AuditRecord } from './audit/audit-record.ts';
import type { Link } from './link.ts';

/** How a node is made. */
export interface NodeSpec {
  labels?: Record<string, string>;
  taints?: { key: string; value?: string; effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute' }[];
  /** Label `topology.kubernetes.io/zone`. */
  zone?: string;
  annotations?: Record<string, string>;
}

/**
 * How pods fare. A version behaves so by the annotation `sim.edgeset.io/behaviour` in its template, or by the tag of an
 * image of its containers or sidecars (`app:v2--crash-loop`, which also reaches pods that are updated in place); a node
 * makes any pod behave so through `Cluster.behave`. Milliseconds come from `sim.edgeset.io/start-ms`, `stop-ms` and
 * `die-ms`.
 */
export type Behaviour =
  /** Starts after start-ms (plus up to a half), is ready at once, ends stop-ms after its delete. */
  | 'ready'
  /** The same, twenty times as slow. */
  | 'slow'
  /** Never ready: CrashLoopBackOff, restartCount rises. */
  | 'crash-loop'
  /** ErrImagePull, then ImagePullBackOff. */
  | 'not-pullable'
  /** Runs, and its probe never passes. */
  | 'never-ready'
  /** Ready, die-ms later in CrashLoopBackOff for good. */
  | 'dies-after-ready'
  /** Ready, die-ms later evicted: phase Failed. */
  | 'failed'
  /** Ready, die-ms later its node is cut off. */
  | 'kills-node'
  /** Ready; a delete is never carried out. */
  | 'stuck-terminating';

export interface NodeBehaviour {
  behaviour?: Behaviour;
  startMs?: number;
  stopMs?: number;
  dieMs?: number;
}

/** A part of the cluster that can be stopped in its tracks (it keeps its connections and what it knows). */
export interface Pausable {
  pause(): void;
  resume(): void;
}

export interface ManagerOptions {
  /** After `manager --kubeconfig F`; the addresses of metrics and probes are given by the harness. */
  args?: readonly string[];
  /**
   * Where its ServiceAccount `edgeset-manager` lives: its user is `system:serviceaccount:<namespace>:edgeset-manager`,
   * which tells the managers of one cluster apart in the audit log.
   */
  namespace: string;
  /** It speaks through this link. Default: straight to the API server. */
  link?: Link;
  /** The program, for one that is run as it is shipped. Default: the sources. */
  file?: string;
}

export interface Manager {
  readonly user: string;
  /** As audit records have it. */
  readonly credential?: string;
  readonly pid: number;
  /** `http://127.0.0.1:<port>`. */
  readonly metrics: string;
  readonly probes: string;
  /** Settles with the exit code or signal when it has ended. */
  readonly exit: Promise<number | NodeJS.Signals>;
  kill(signal?: NodeJS.Signals): void;
  pause(): void;
  resume(): void;
  log(): Promise<string>;
  /** SIGTERM, and SIGKILL after 30 s. */
  stop(): Promise<void>;
}

export interface AgentOptions {
  /** Its node, which must exist. */
  node: string;
  /** The namespace that it has rights in and serves. Default: all. */
  namespace?: string;
  /** After the flags that the harness gives: kubeconfig, node, addresses, state, namespace. */
  args?: readonly string[];
  /** It speaks through this link. Default: straight to the API server. */
  link?: Link;
  /** That of an agent before it, to start it again. Default: a new one. */
  stateDir?: string;
}

export interface Agent {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly port: number;
  /** Probes and metrics, likewise. */
  readonly health: string;
  readonly stateDir: string;
  /** The same for all agents of a cluster: the audit log's `node` tells them apart. */
  readonly user: string;
  readonly pid: number;
  /** Settles with the exit code or signal when it has ended. */
  readonly exit: Promise<number | NodeJS.Signals>;
  kill(signal?: NodeJS.Signals): void;
  pause(): void;
  resume(): void;
  log(): Promise<string>;
  /** SIGTERM, and SIGKILL after 30 s. */
  stop(): Promise<void>;
}

/** What the suite may know of the cluster's history, told by the cluster and not by the product. */
export interface Audit {
  /** All records so far, oldest first. */
  read(): Promise<readonly AuditRecord[]>;
}

/**
 * A cluster with simulated nodes, as the conformance suite sees it. Cases run at the same time on one cluster, each with
 * a namespace and nodes of its own; what is marked "for all" disturbs the others.
 */
export interface Cluster {
  /** Path of a kubeconfig of cluster-admin, for kubectl and clients. */
  readonly kubeconfig: string;
  /** Of cluster-admin, without a rate limit. */
  readonly client: KubeClient;
  readonly audit: Audit;
  /** Creates `<prefix>-<random>`; resolves when pods can be made in it. */
  createNamespace(prefix: string): Promise<string>;
  /** Asks for the end of it and of all that is in it, and does not wait. */
  dropNamespace(name: string): Promise<void>;
  /** Resolves when all are Ready. */
  addNodes(names: readonly string[], spec?: NodeSpec): Promise<void>;
  /** Deletes the Node objects and nothing else: their pods stay until the control plane collects them. */
  removeNodes(names: readonly string[]): Promise<void>;
  /**
   * Cuts nodes off; resolves when the API shows them not Ready, a grace period later. Their pods stay as they were,
   * also those that were starting or ending, and deletes hang until the node is back.
   */
  offline(names: readonly string[]): Promise<void>;
  /** Resolves when the API shows them Ready. */
  online(names: readonly string[]): Promise<void>;
  /** For the nodes' present pods and those to come; undefined gives them back to their version. */
  behave(names: readonly string[], behaviour: NodeBehaviour | undefined): Promise<void>;
  /** For all: the controller of apps/v1 DaemonSets. */
  readonly nativeController: Pausable;
  /** For all. */
  readonly scheduler: Pausable;
  /** For all: ends the API server and starts it again with the same data; resolves when it is ready. */
  restartApiServer(): Promise<void>;
  /** A link to the API server that can be cut, stalled, slowed and reset. */
  link(): Promise<Link>;
  /** Starts the product's manager with exactly the rights that `deploy/` gives it. */
  startManager(options: ManagerOptions): Promise<Manager>;
  /**
   * Starts the product's agent of a node with exactly the rights and the policy that `deploy/agent` gives it, by a token
   * that is bound to a pod there; resolves when it serves.
   */
  startAgent(options: AgentOptions): Promise<Agent>;
  stop(): Promise<void>;
}
