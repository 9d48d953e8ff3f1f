import type { Change } from '../../embedded/index.ts';
import type { WatchEvent } from '../../src/kube/index.ts';
import type { Call } from '../simulation/network/call.ts';
import type { MetricAnswer, Operation } from '../simulation/plan/plan.ts';
import type { Report } from './report.ts';
import type { ClusterState, PodState } from './state/cluster-state.ts';
import type { ProcessView } from './state/process-view.ts';

/** The present state of a manager's process. */
export interface ProcessState {
  readonly name: string;
  /** False while the process is stopped. */
  readonly running: boolean;
  /** Its link to the API server works, its calls are accepted, and it can read what it receives of the DaemonSet. */
  readonly up: boolean;
}

/** What a check has access to. */
export interface CheckContext {
  report: Report;
  actual: ClusterState;
  daemonSet: { group: string; name: string };
  /** Actual time, epoch ms. */
  now: () => number;
  /** What a process has observed. */
  viewOf: (process: string) => ProcessView;
  clockOf: (process: string) => number;
  settleMs: number;
  /** The name of the DaemonRollout. */
  rolloutName: string;
  /** Processes that have not died. */
  processes: () => readonly ProcessState[];
}

/** An update of the pod on a node by a manager. */
export interface NodeUpdate {
  call: Call;
  kind: 'delete' | 'in-place' | 'prepare' | 'surge';
  node: string;
  /** The old pod; when the update is sent, as its sender knew it. */
  pod: PodState;
  /** Subject and verb, for messages. */
  what: string;
  /** The rollout that it belongs to, as its sender knew it. */
  rollout: number;
}

/** Checks one invariant, or a few. */
export interface Check {
  /** Called before a commit is applied to the actual state, and after. */
  beforeCommit?: (change: Change) => void;
  onCommit?: (change: Change) => void;
  /** A process sends a call; one that updates a node. */
  onSend?: (call: Call) => void;
  onUpdateSent?: (update: NodeUpdate) => void;
  /** A write was executed; an update was. */
  onExecuted?: (call: Call) => void;
  onUpdateExecuted?: (update: NodeUpdate) => void;
  /** A process receives a response; it receives an error, with the status of the response if there is one, or stops waiting. */
  onResponse?: (call: Call, object: unknown) => void;
  onFailure?: (call: Call, status?: number) => void;
  onWatchOpened?: (process: string, watch: string, plural: string, withSnapshot: boolean) => void;
  onWatchEvent?: (process: string, watch: string, plural: string, event: WatchEvent<object>) => void;
  onWatchClosed?: (process: string, watch: string, plural: string) => void;
  /** A process receives the answer to the query of a check. */
  onAnswer?: (process: string, query: string, answer: MetricAnswer) => void;
  /** A step of the plan is executed. */
  onOperation?: (operation: Operation) => void;
  /** The rollout is complete. */
  onConverged?: () => void;
}

/** Calls each of the hooks. Most checks have few of them, most plans have one DaemonSet, and there are many commits. */
const callEach = <A extends unknown[]>(hooks: readonly ((...args: A) => void)[]): ((...args: A) => void) => {
  const [first, ...others] = hooks;
  if (first && others.length === 0) return first;
  return (...args) => {
    for (const run of hooks) run(...args);
  };
};

/** Several checks as one. */
export const combineChecks = (checks: readonly Check[]): Required<Check> => {
  const all = <K extends keyof Check>(hook: K) => {
    type Hook = (...args: Parameters<NonNullable<Check[K]>>) => void;
    return callEach(checks.flatMap((check) => (check[hook] as Hook | undefined) ?? []));
  };
  return {
    beforeCommit: all('beforeCommit'),
    onCommit: all('onCommit'),
    onSend: all('onSend'),
    onUpdateSent: all('onUpdateSent'),
    onExecuted: all('onExecuted'),
    onUpdateExecuted: all('onUpdateExecuted'),
    onResponse: all('onResponse'),
    onFailure: all('onFailure'),
    onWatchOpened: all('onWatchOpened'),
    onWatchEvent: all('onWatchEvent'),
    onWatchClosed: all('onWatchClosed'),
    onAnswer: all('onAnswer'),
    onOperation: all('onOperation'),
    onConverged: all('onConverged'),
  };
};
