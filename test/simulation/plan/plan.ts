import type { Behaviour } from '../../../embedded/index.ts';
import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import type { CallFault, StreamFault, Verb } from '../network/call.ts';
import type { OwnerRequest } from '../processes/owner.ts';

/** Kinds of faults; docs/explanation/reliability.md describes them in more detail. */
export const faults = {
  F1: 'A call fails or is lost.',
  F2: 'A response is lost, or the link is cut.',
  F3: 'A process crashes at a call.',
  F4: 'The leader is stopped, and another manager leads meanwhile.',
  F5: 'A watch is delayed.',
  F6: 'A watch loses an event, falls silent or breaks.',
  F7: 'A watch event is delivered twice.',
  F8: 'The API server restarts, and serves an older state for a while.',
  F9: 'A node is deleted, recreated, relabelled, tainted or offline.',
  F10: 'A node goes offline while its pod starts or terminates.',
  F11: 'A pod is slow, never terminates, never starts, or is deleted by hand.',
  F12: 'A version breaks its pods or its nodes.',
  F13: 'Clocks are wrong.',
  F14: 'The user changes the DaemonSet in the middle of a rollout.',
  F15: 'The native DaemonSet controller is stopped or slow.',
  F16: 'A burst of changes to nodes.',
  F17: 'An owner sends requests repeatedly, concurrently, for an older revision, or while offline.',
  F18: 'Objects are too large for the store.',
  F19: 'Other tenants fill the API server, and forge pods.',
  F20: 'An admission webhook is slow, or times out.',
  F21: 'The store is full: reads work, and writes fail.',
  F22: 'Tokens and the certificate authority are rotated.',
  F23: 'Clocks show fractions of a millisecond: in every plan.',
  F24: 'A manager or an agent cannot compute something: an exception in a projection, a handler, the ledger, a decision or the view of a plan.',
  F25: 'A finalizer holds a pod that is deleted.',
  F26: 'An Advanced DaemonSet is handed to a native one and back, with a slow garbage collector.',
} as const;
export type FaultKind = keyof typeof faults;
export const faultKinds = Object.keys(faults) as readonly FaultKind[];

/** Faults that are steps of a plan. */
export type StepFault = Exclude<FaultKind, 'F23'>;
export const isStepFault = (kind: FaultKind): kind is StepFault => kind !== 'F23';

/** Resources that managers watch, by plural. */
export const watchedResources = ['pods', 'nodes', 'daemonsets', 'controllerrevisions', 'daemonrollouts'] as const;
export type Watched = (typeof watchedResources)[number];

/** What marks a node as busy: its key or type, for `skipNodes` of rollout plans. */
export const busyMarks = { label: 'example.com/reboot', taint: 'example.com/job', condition: 'Maintenance' } as const;
export type BusyMark = keyof typeof busyMarks;

/** What a user does to a DaemonSet. */
export type UserOperation =
  /** A new template; the text after `--` in the image says how its pods behave. */
  | { do: 'release'; image: string }
  | { do: 'budget'; limit: string }
  /** Of an Advanced DaemonSet. */
  | { do: 'strategy'; strategy: Strategy }
  | { do: 'pause'; paused: boolean }
  /** How many nodes keep the old revision: a number or a percent. */
  | { do: 'partition'; nodes: number | string }
  /** Updates only nodes with this value of the label `wave`; undefined: all. */
  | { do: 'select'; wave: string | undefined }
  /** Only the user updates pods, by deleting them: OnDelete; for a native DaemonSet: not opted in. */
  | { do: 'manual'; manual: boolean }
  | { do: 'predownload'; mode: Predownload | 'off' }
  /** Removes or restores the preDelete hook of an Advanced DaemonSet. */
  | { do: 'hook'; on: boolean }
  /** From now on the drain controller needs this long for each pod; undefined: it is down. */
  | { do: 'drainer'; ms: number | undefined }
  /** Edits the rollout plan; undefined: deletes it. */
  | { do: 'plan'; spec: RolloutPlanSpec | undefined }
  /** Somebody decides about a stage of the present target; `older`: of the revision before. */
  | { do: 'decide'; stage: string; decision: 'Approve' | 'Promote'; older?: boolean }
  /** Resumes a halted revision. */
  | { do: 'resume' }
  | { do: 'recreate-set' }
  /**
   * Hands an Advanced DaemonSet to a native one, and that one back: applied before it is deleted (`first`), or after. The garbage
   * collector releases its pods one at a time, this many ms apart.
   */
  | { do: 'hand-over'; first: 'apply' | 'delete'; paceMs: number };

/** What a Prometheus answers; `down` and `hangs`: nothing. */
export type MetricAnswer = 'good' | 'bad' | 'nan' | 'empty' | 'down' | 'hangs';

/** One operation on the cluster, on a process or on the link between them. */
export type Operation =
  /** `set`: which DaemonSet of the plan; default the first. */
  | (UserOperation & { set?: number })
  | { do: 'offline' | 'online' | 'delete-node' | 'create-node' | 'recreate-node'; node: string }
  | { do: 'label'; node: string; role: 'edge' | 'other' }
  /** Moves a node to other stages and groups. */
  | { do: 'move'; node: string; ring: string; site: string | undefined }
  /** Something marks the node as busy, as `busyMarks` says, or no longer does. */
  | { do: 'busy'; node: string; by: BusyMark; busy: boolean }
  | { do: 'taint'; node: string; effect: 'NoSchedule' | 'NoExecute' | undefined }
  /** How all pods on the node behave from now on. */
  | { do: 'behave'; node: string; behaviour: Behaviour | undefined }
  /** What the names of images mean to containers that start on the node, as after a tag was pushed again, or on another architecture. */
  | { do: 'content'; node: string; content: string | undefined; arch?: 'amd64' | 'arm64' }
  | { do: 'delete-pod'; node: string; set?: number }
  /** A finalizer holds the pod on the node for `forMs`, however it is deleted; `deletes`: the user does it now. */
  | { do: 'hold-pod'; node: string; deletes: boolean; forMs: number; set?: number }
  /** Containers start, and images are pulled, only after this time, ms. */
  | { do: 'slow-pulls'; node: string; ms: number | undefined }
  | { do: 'call-fault'; fault: CallFault; of: CallMatch }
  /** The leader, or another manager. */
  | { do: 'crash'; who: 'leader' | 'other' }
  /** Without `forMs`: until `continue` or `restore`. */
  | { do: 'stop' | 'cut'; who: 'leader' | 'other'; forMs?: number }
  | { do: 'continue' | 'restore' }
  /** The clock skew of the next process that starts, and of those after it. */
  | { do: 'skew'; ms: number }
  /** From the next event of such a watch, for `forMs`; without it, from now on. */
  | { do: 'lag'; watch: Watched; ms: number; forMs?: number }
  /** The next event of such a watch. */
  | { do: 'disturb'; watch: Watched; how: Exclude<StreamFault['how'], 'lag'> }
  /** All watches end, and for `forMs` new watches are served a state that is `behindMs` old. */
  | { do: 'restart-api'; behindMs?: number; forMs?: number }
  /** Writes to objects of this resource are refused because they would be too large. */
  | { do: 'oversized'; plural: string; forMs: number }
  /** Others keep the API server busy: it refuses most calls with 429. */
  | { do: 'crowd'; forMs: number }
  /** Another tenant creates this many large DaemonSets, and as many forged pods. */
  | { do: 'neighbour'; count: number }
  /** Writes to this resource wait for an admission webhook, and are then executed, or refused because it timed out. */
  | { do: 'webhook'; plural: string; ms: number; refuses: boolean; forMs: number }
  | { do: 'etcd-full'; forMs: number }
  /**
   * Reading this part of an object of a kind that a process receives throws: once, or for `forMs` from then on, unless the object
   * arrives once more, or with `stays` also then. `path`: names of fields, or places in a list, with dots between them. `skip`: this many
   * reads of that part, of whichever objects, pass first.
   */
  | {
      do: 'poison';
      kind: string;
      path: string;
      forMs?: number;
      stays?: boolean;
      skip?: number;
      by?: 'manager' | 'agent';
    }
  /** What the Prometheus of the checks answers, for `forMs`. */
  | { do: 'metric'; answer: MetricAnswer; forMs: number }
  /** The server changes at once, and the mounted files later. */
  | { do: 'rotate'; what: 'token' | 'authority'; followMs: number }
  | { do: 'native'; how: 'pause' | 'resume' | 'lag'; ms?: number }
  | { do: 'burst'; changes: number }
  /** A request of a node's owner; `times`: sent this many times at once. */
  | { do: 'owner'; node: string; ask: OwnerRequest; times?: number }
  /** Whether the owner approves every update from now on. At first the owner does nothing. */
  | { do: 'auto-approve'; node: string; agrees: boolean }
  /** Owners may postpone updates until then. */
  | { do: 'deadline'; inMs: number; spreadSeconds: number }
  /** The agent of a node. `cut-power`: writes that were not synced may be lost. */
  | { do: 'agent'; node: string; how: 'crash' | 'cut-power' }
  | { do: 'agent'; node: string; how: 'stop' | 'cut'; forMs: number }
  /** The clock skew of the agents that start on the node from now on. */
  | { do: 'agent'; node: string; how: 'skew'; ms: number }
  /** Ends all faults of nodes, processes and links, and resets the user's controls. Nodes with a version that kills them come back without it. */
  | { do: 'recover' };

export interface CallMatch {
  verb?: Verb;
  plural?: string;
}

export interface PlannedStep {
  /** Milliseconds after the start. */
  at: number;
  operation: Operation;
  /** The fault that it causes, which must take effect, or the run fails. Absent for the end of a fault and for plain rollouts. */
  fault?: StepFault;
}

/** How pods are replaced. */
export type Strategy = 'recreate' | 'in-place' | 'surge';

/** edgeset.io/predownload */
export type Predownload = 'required' | 'preferred';

/** The preDelete hook of an Advanced DaemonSet, and the drain controller that it waits for. */
export interface Hook {
  by: 'label' | 'finalizer';
  markPodNotReady: boolean;
  /** The time that the drain controller needs for each pod. */
  drainMs: number;
  /** edgeset.io/predelete-timeout-seconds; default: no timeout. */
  timeoutSeconds?: number;
}

/** A DaemonSet as it is created. */
export interface DaemonSetPlan {
  kind: 'native' | 'advanced';
  /** Who decides when a pod is replaced: the manager (default), or the owners of the nodes with their agents. */
  model?: 'auto' | 'ota';
  /** Always `recreate` for native DaemonSets. */
  strategy: Strategy;
  /** The budget: a number, or a percent. */
  limit: string;
  settleSeconds: number;
  minReadySeconds: number;
  hook?: Hook;
  predownload?: Predownload;
  /** How many nodes pull at a time. */
  parallelism?: string;
  /** The timeout of one attempt. */
  pullSeconds?: number;
  /** The partition limits the creation of pods, too. */
  progressive?: boolean;
  /** edgeset.io/on-image-drift */
  /** `edgeset.io/first-wave`; default: the failure threshold. */
  firstWave?: '100%';
  onImageDrift?: 'halt';
  partition?: number | string;
  /** edgeset.io/recreate of an Advanced DaemonSet. */
  recreate?: 'held-revision';
  /** How many old revisions to keep; default: as the schema says. */
  historyLimit?: number;
  /** The rollout plan that it names. */
  rolloutPlan?: RolloutPlanSpec;
  /** People approve each stage that awaits them so long afterwards, ms. */
  approvedAfterMs?: number;
}

/** When each run begins: plans name times. */
export const START = Date.parse('2026-01-01T00:00:00Z');

/** What the clocks of a plan show beyond whole milliseconds: 1 to 1023 of 1024 parts. */
export const fractionOf = ({ seed }: Pick<Plan, 'seed'>): number => (((Math.abs(seed) * 617 + 383) % 1023) + 1) / 1024;

/** A run as data: the same plan gives the same history, byte by byte. */
export interface Plan extends DaemonSetPlan {
  seed: number;
  nodes: number;
  managers: number;
  /** Further DaemonSets on the same nodes. */
  others?: readonly DaemonSetPlan[];
  /** The clock skew of every second process. */
  clocksApartMs?: number;
  /** A fault at one write of the managers, counted from 1; leases and Events do not count. */
  atWrite?: { write: number; fault: CallFault };
  /** Sorted by time. */
  steps: readonly PlannedStep[];
}
