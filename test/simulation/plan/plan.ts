import type { Behaviour } from '../../../src/sim/index.ts';
import type { CallFault, Verb } from '../network/call.ts';
import type { StreamFault } from '../network/link.ts';
import type { OwnerRequest } from '../processes/owner.ts';

/** The faults of the specification that a run can be asked to meet. */
export const faultKinds = [
  'F1',
  'F2',
  'F3',
  'F4',
  'F5',
  'F6',
  'F7',
  'F8',
  'F9',
  'F10',
  'F11',
  'F12',
  'F13',
  'F14',
  'F15',
  'F16',
  'F17',
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Resources that managers watch, by their plural. */
export type Watched = 'pods' | 'nodes' | 'daemonsets' | 'controllerrevisions' | 'daemonrollouts';

/** What a user does to a DaemonSet. */
export type UserOperation =
  /** A new template; what follows `--` in the image is how its pods behave. */
  | { do: 'release'; image: string }
  | { do: 'budget'; limit: string }
  /** Of an Advanced DaemonSet. */
  | { do: 'strategy'; strategy: Strategy }
  | { do: 'pause'; paused: boolean }
  /** How many nodes stay on the old revision: a number, or a percent. */
  | { do: 'partition'; nodes: number | string }
  /** Only nodes with this value of label `wave` are updated; undefined: all. */
  | { do: 'select'; wave: string | undefined }
  /** Nobody but who deletes pods updates it: OnDelete, or, of a native one, not served. */
  | { do: 'manual'; manual: boolean }
  | { do: 'predownload'; mode: Predownload | 'off' }
  /** The hook of an Advanced DaemonSet is taken away, or comes back. */
  | { do: 'hook'; on: boolean }
  /** The user's controller needs so long for each pod from now on; undefined: it is not there. */
  | { do: 'drainer'; ms: number | undefined }
  /** Goes on with a halted revision. */
  | { do: 'resume' }
  | { do: 'recreate-set' };

/** What is done to the cluster, to a process or to the way between them. */
export type Operation =
  /** `set`: which DaemonSet of the plan; the first by default. */
  | (UserOperation & { set?: number })
  | { do: 'offline' | 'online' | 'delete-node' | 'create-node' | 'recreate-node'; node: string }
  | { do: 'label'; node: string; role: 'edge' | 'other' }
  | { do: 'taint'; node: string; effect: 'NoSchedule' | 'NoExecute' | undefined }
  /** How all pods of the node fare from now on. */
  | { do: 'behave'; node: string; behaviour: Behaviour | undefined }
  | { do: 'delete-pod'; node: string; set?: number }
  /** Containers start, and images arrive, only so long after a pod came to the node, ms. */
  | { do: 'slow-pulls'; node: string; ms: number | undefined }
  | { do: 'call-fault'; fault: CallFault; of: CallMatch }
  /** Of the manager that leads, or of the other one. */
  | { do: 'crash'; who: 'leader' | 'other' }
  /** Without a time: until all go on. */
  | { do: 'stop' | 'cut'; who: 'leader' | 'other'; forMs?: number }
  | { do: 'continue' | 'restore' }
  /** How far the clock is off for the next process that starts, and for those after it. */
  | { do: 'skew'; ms: number }
  /** From the next event of such a watch on, for so long; without a time from now on. */
  | { do: 'lag'; watch: Watched; ms: number; forMs?: number }
  /** The next event of such a watch. */
  | { do: 'disturb'; watch: Watched; how: Exclude<StreamFault['how'], 'lag'> }
  /** All watches end, and for so long whoever watches anew is told what was so long before. */
  | { do: 'restart-api'; behindMs?: number; forMs?: number }
  | { do: 'native'; how: 'pause' | 'resume' | 'lag'; ms?: number }
  | { do: 'burst'; changes: number }
  /** What the owner of a node asks of his device; `times`: so many times at once. */
  | { do: 'owner'; node: string; ask: OwnerRequest; times?: number }
  /** Whether the owner agrees to whatever he is shown, from now on. At first he does nothing by himself. */
  | { do: 'auto-approve'; node: string; agrees: boolean }
  /** Owners can put updates off for so long. */
  | { do: 'deadline'; inMs: number; spreadSeconds: number }
  /** The agent of a node. `cut-power`: what its disk had not yet been made to keep is lost, or not. */
  | { do: 'agent'; node: string; how: 'crash' | 'cut-power' }
  | { do: 'agent'; node: string; how: 'stop' | 'cut'; forMs: number }
  /** How far the clock is off for the agents that start on the node from now on. */
  | { do: 'agent'; node: string; how: 'skew'; ms: number }
  /** Whatever was done to nodes, processes and the way between them is over, and the user's controls are as at first. */
  | { do: 'recover' };

/** The next call that fits. */
export interface CallMatch {
  verb?: Verb;
  plural?: string;
}

export interface PlannedStep {
  /** Milliseconds after the start. */
  at: number;
  operation: Operation;
  /** The fault that it is: it must meet something, or the run is broken. Without: what ends a fault, or a plain rollout. */
  fault?: FaultKind;
}

/** How pods are replaced. */
export type Strategy = 'recreate' | 'in-place' | 'surge';

/** edgeset.io/predownload */
export type Predownload = 'required' | 'preferred';

/** What holds the pods of an Advanced DaemonSet before they are deleted, and who lets them go. */
export interface Hook {
  by: 'label' | 'finalizer';
  markPodNotReady: boolean;
  /** What the user's controller needs for each pod. */
  drainMs: number;
  /** edgeset.io/predelete-timeout-seconds; none: for as long as it takes. */
  timeoutSeconds?: number;
}

/** A DaemonSet as it begins. */
export interface DaemonSetPlan {
  kind: 'native' | 'advanced';
  /** Who says when a pod is replaced: the manager, or the owners of the nodes, by the agents there. Default: auto. */
  model?: 'auto' | 'ota';
  /** Of native DaemonSets always `recreate`. */
  strategy: Strategy;
  /** The budget: a number, or a percent. */
  limit: string;
  settleSeconds: number;
  minReadySeconds: number;
  hook?: Hook;
  predownload?: Predownload;
  /** Nodes that pull at a time. */
  parallelism?: string;
  /** Of one try. */
  pullSeconds?: number;
  /** Pods are created only as far as the partition allows, too. */
  progressive?: boolean;
  partition?: number | string;
}

/** A whole run as data: the same plan gives the same history, byte by byte. */
export interface Plan extends DaemonSetPlan {
  seed: number;
  nodes: number;
  managers: number;
  /** DaemonSets beside the first, on the same nodes. */
  others?: readonly DaemonSetPlan[];
  /** How far the clocks of every other process are off from those between. */
  clocksApartMs?: number;
  /** A fault of the so many-th write of the managers, counted from 1 over all of them; leases and Events do not count. */
  atWrite?: { write: number; fault: CallFault };
  /** In the order of their times. */
  steps: readonly PlannedStep[];
}
