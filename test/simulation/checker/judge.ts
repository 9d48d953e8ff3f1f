import type { WatchEvent } from '../../../src/kube/index.ts';
import type { Change } from '../../../src/sim/index.ts';
import type { Call } from '../call.ts';
import type { Deed } from '../plan.ts';
import type { Report } from './report.ts';
import type { TruePod, Truth } from './truth.ts';
import type { View } from './view.ts';

/** A manager's process that lives, as it is. */
export interface ProcessState {
  readonly name: string;
  /** It is not stopped. */
  readonly running: boolean;
  /** Its way to the API server is open. */
  readonly up: boolean;
}

/** What a judge can look at. */
export interface Court {
  report: Report;
  truth: Truth;
  daemonSet: { group: string; name: string };
  /** True time, epoch ms. */
  now: () => number;
  /** What a process has been told. */
  viewOf: (process: string) => View;
  /** A process's own time. */
  clockOf: (process: string) => number;
  settleMs: number;
  /** The name of its DaemonRollout. */
  rolloutName: string;
  /** Those that live. */
  processes: () => readonly ProcessState[];
}

/** An update of the pod on a node, by a manager. */
export interface ManagersAct {
  call: Call;
  kind: 'delete' | 'in-place' | 'prepare' | 'surge';
  node: string;
  /** The old pod; where an act is sent, as its sender was told of it. */
  pod: TruePod;
  what: string;
  /** The rollout that it belongs to, as its sender knows it. */
  rollout: number;
}

/** Holds what it hears against one invariant, or a few. */
export interface Judge {
  /** Before a commit is taken note of, and after it. */
  beforeCommit?: (change: Change) => void;
  commit?: (change: Change) => void;
  /** A process sends a call; and one that is an act. */
  leaves?: (call: Call) => void;
  sends?: (act: ManagersAct) => void;
  /** A write was carried out; an act was. */
  carriedOut?: (call: Call) => void;
  acted?: (act: ManagersAct) => void;
  /** An answer reaches a process; an error does, or it waits no longer. */
  learns?: (call: Call, object: unknown) => void;
  fails?: (call: Call) => void;
  /** A watch of a process is opened, brings an event, and has ended. */
  opens?: (process: string, watch: string, plural: string, withSnapshot: boolean) => void;
  hears?: (process: string, watch: string, plural: string, event: WatchEvent<object>) => void;
  closes?: (process: string, watch: string, plural: string) => void;
  /** Something is done to the cluster, to a process or to the way between them. */
  deed?: (deed: Deed) => void;
  /** The rollout is over. */
  over?: () => void;
}
