import type { KubeClient } from '../../src/kube/index.ts';
import type { AuditRecord } from '../judge/audit/audit-record.ts';
import type { Link } from './link.ts';

/** How a node is created. */
export interface NodeSpec {
  labels?: Record<string, string>;
  taints?: { key: string; value?: string; effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute' }[];
  /** Label `topology.kubernetes.io/zone`. */
  zone?: string;
  annotations?: Record<string, string>;
}

/**
 * How pods behave. Set for a version by the annotation `sim.edgeset.io/behaviour` in its template, or by the tag of an image of
 * its containers or sidecars (`app:v2--crash-loop`, which also applies to in-place updates); for all pods on a node by
 * `Cluster.behave`. The times are set by `sim.edgeset.io/start-ms`, `stop-ms` and `die-ms`.
 */
export type Behaviour =
  /** Starts after start-ms (plus up to a half), is ready immediately, terminates stop-ms after its delete. */
  | 'ready'
  /** The same, twenty times as slow. */
  | 'slow'
  /** Never ready: CrashLoopBackOff, restartCount rises. */
  | 'crash-loop'
  /** ErrImagePull, then ImagePullBackOff. */
  | 'not-pullable'
  /** Runs, and its probe never passes. */
  | 'never-ready'
  /** Ready, die-ms later in CrashLoopBackOff permanently. */
  | 'dies-after-ready'
  /** Ready, die-ms later evicted: phase Failed. */
  | 'failed'
  /** Ready, die-ms later its node goes offline. */
  | 'kills-node'
  /** Ready; never terminates after a delete. */
  | 'stuck-terminating';

export interface NodeBehaviour {
  behaviour?: Behaviour;
  startMs?: number;
  stopMs?: number;
  dieMs?: number;
}

/** A part of the cluster that can be paused; it keeps its connections and its state. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

export interface ManagerOptions {
  /** After `manager --kubeconfig F`; the harness sets the addresses of metrics and probes. */
  args?: readonly string[];
  /**
   * Where its ServiceAccount `edgeset-manager` lives: its user is `system:serviceaccount:<namespace>:edgeset-manager`,
   * which tells the managers of one cluster apart in the audit log.
   */
  namespace: string;
  /** It connects through this link. Default: directly to the API server. */
  link?: Link;
  /** The clock of its machine is ahead by this many milliseconds; negative: behind. Default 0. */
  clockAheadMs?: number;
  /** It fails to read the labels of Nodes with the annotation `test.edgeset.io/unreadable`. Default: false. */
  unreadable?: boolean;
}

/** A process of the product. */
interface Process {
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

export interface Manager extends Process {
  readonly user: string;
  /** As in audit records. */
  readonly credential?: string;
  /** `http://127.0.0.1:<port>`. */
  readonly metrics: string;
  readonly probes: string;
}

export interface AgentOptions {
  /** Its node, which must exist. */
  node: string;
  /** The namespace that it has rights in and serves. Default: all. */
  namespace?: string;
  /** After the flags that the harness sets: kubeconfig, node, addresses, state, namespace. */
  args?: readonly string[];
  /** It connects through this link. Default: directly to the API server. */
  link?: Link;
  /** The state directory of an earlier agent, to restart it. Default: a new one. */
  stateDir?: string;
}

export interface Agent extends Process {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly port: number;
  /** The URL of probes and metrics. */
  readonly health: string;
  readonly stateDir: string;
  /** The same for all agents of a cluster: the audit log's `node` distinguishes them. */
  readonly user: string;
}

/** What a command line said. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** `kubectl edgeset`: as it is shipped on a real control plane, from the sources on the embedded cluster. */
export interface Plugin {
  /** To be put first on the PATH, for kubectl. */
  folder(): Promise<string>;
  /** Runs a command line to its end, without a terminal and with no environment of a user. */
  run(args: readonly string[]): Promise<Ran>;
}

/** The cluster's history, as its API server recorded it. */
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
  readonly plugin: Plugin;
  /** Of cluster-admin, without a rate limit. */
  readonly client: KubeClient;
  readonly audit: Audit;
  /** Creates `<prefix>-<random>`; resolves when pods can be created in it. */
  createNamespace(prefix: string): Promise<string>;
  /** Deletes the namespace without waiting. */
  dropNamespace(name: string): Promise<void>;
  /** Resolves when all are Ready. */
  addNodes(names: readonly string[], spec?: NodeSpec): Promise<void>;
  /** Deletes only the Node objects: their pods stay until the control plane collects them. */
  removeNodes(names: readonly string[]): Promise<void>;
  /**
   * Takes nodes offline; resolves when the API shows them NotReady, a grace period later. Their pods stay as they were, even
   * if they were starting or terminating, and deletes hang until the node is back.
   */
  offline(names: readonly string[]): Promise<void>;
  /** Resolves when the API shows them Ready. */
  online(names: readonly string[]): Promise<void>;
  /** Applies to present and future pods on the nodes; undefined: pods behave as their version says. */
  behave(names: readonly string[], behaviour: NodeBehaviour | undefined): Promise<void>;
  /** For all: the controller of apps/v1 DaemonSets. */
  readonly nativeController: Pausable;
  /** For all. */
  readonly scheduler: Pausable;
  /** For all: restarts the API server with the same data; resolves when it is ready. */
  restartApiServer(): Promise<void>;
  /** A link to the API server that can be cut, stalled, slowed and reset. */
  link(): Promise<Link>;
  /** Starts the manager with exactly the permissions of `deploy/`. */
  startManager(options: ManagerOptions): Promise<Manager>;
  /**
   * Starts the product's agent of a node with exactly the rights and the policy that `deploy/agent` gives it, by a token
   * that is bound to a pod there; resolves when it serves.
   */
  startAgent(options: AgentOptions): Promise<Agent>;
  stop(): Promise<void>;
}
