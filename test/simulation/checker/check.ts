import type { WatchEvent } from '../../../src/kube/index.ts';
import type { Change } from '../../../src/sim/index.ts';
import type { Call } from '../network/call.ts';
import type { Operation } from '../plan/plan.ts';
import type { ClusterState, PodState } from './cluster-state.ts';
import type { ProcessView } from './process-view.ts';
import type { Report } from './report.ts';

/** A manager's process that lives, as it is. */
export interface ProcessState {
  readonly name: string;
  /** It is not stopped. */
  readonly running: boolean;
  /** Its way to the API server is open. */
  readonly up: boolean;
}

/** What a judge can look at. */
export interface CheckContext {
  report: Report;
  actual: ClusterState;
  daemonSet: { group: string; name: string };
  /** True time, epoch ms. */
  now: () => number;
  /** What a process has been told. */
  viewOf: (process: string) => ProcessView;
  /** A process's own time. */
  clockOf: (process: string) => number;
  settleMs: number;
  /** The name of its DaemonRollout. */
  rolloutName: string;
  /** Those that live. */
  processes: () => readonly ProcessState[];
}

/** An update of the pod on a node, by a manager. */
export interface NodeUpdate {
  call: Call;
  kind: 'delete' | 'in-place' | 'prepare' | 'surge';
  node: string;
  /** The old pod; where an act is sent, as its sender was told of it. */
  pod: PodState;
  what: string;
  /** The rollout that it belongs to, as its sender knows it. */
  rollout: number;
}

/** Holds what it hears against one invariant, or a few. */
export interface Check {
  /** Before a commit is taken note of, and after it. */
  beforeCommit?: (change: Change) => void;
  onCommit?: (change: Change) => void;
  /** A process sends a call; and one that is an act. */
  onSend?: (call: Call) => void;
  onUpdateSent?: (act: NodeUpdate) => void;
  /** A write was carried out; an act was. */
  onExecuted?: (call: Call) => void;
  onUpdateExecuted?: (act: NodeUpdate) => void;
  /** An answer reaches a process; an error does, or it waits no longer. */
  onResponse?: (call: Call, object: unknown) => void;
  onFailure?: (call: Call) => void;
  /** A watch of a process is opened, brings an event, and has ended. */
  onWatchOpened?: (process: string, watch: string, plural: string, withSnapshot: boolean) => void;
  onWatchEvent?: (process: string, watch: string, plural: string, event: WatchEvent<object>) => void;
  onWatchClosed?: (process: string, watch: string, plural: string) => void;
  /** Something is done to the cluster, to a process or to the way between them. */
  onOperation?: (operation: Operation) => void;
  /** The rollout is over. */
  onConverged?: () => void;
}
