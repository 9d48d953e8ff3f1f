// What the dashboard's server and its page tell each other.

import type { Cause, DaemonRolloutHistory, DaemonRolloutStage, Phase } from '../words/index.ts';

/** Who looks at the page. */
export interface SessionInfo {
  /** Empty for the user who started the dashboard. */
  user: string;
  /** Whether there is a session to log out of. */
  mayLeave: boolean;
  /** There is none yet, or no longer, and why. */
  mustLogIn?: string;
  /** The page has not got the key of a dashboard on the user's own machine: see `KeyMessage`. */
  mustOpen?: boolean;
}

/** What a page gets once for the code in its address. It sends the key as a bearer token. */
export interface KeyMessage {
  key: string;
}

/** One rollout, as the page lists it. Numbers are those that the manager wrote last. */
export interface RolloutRow {
  namespace: string;
  name: string;
  /** For the command line: `ds` or `ads`. */
  kind: string;
  status: string;
  /** The status is not about the present. */
  doubtful: boolean;
  target: string;
  strategy: string;
  /** By phase, and `online`, `eligible`. */
  nodes: Readonly<Record<string, number>>;
  budget: { inUse: number; limit: number };
  startedAt?: string | undefined;
  finishedAt?: string | undefined;
  estimatedFinishAt?: string | undefined;
  halted: boolean;
  paused: boolean;
  complete: boolean;
}

/** What a page is told on every stream. */
export type StreamMessage =
  /** The watches fail, or do so no more: what is shown may be old. */
  | { type: 'trouble'; text: string }
  /** The time by the clock that the cluster's times are compared with, epoch ms; again when it is not the viewer's. */
  | { type: 'clock'; now: number };

export type OverviewMessage =
  /** All of them, at the start of a stream. */
  | { type: 'rollouts'; rows: readonly RolloutRow[] }
  /** What has changed since; `gone` has `namespace/kind/name`. */
  | { type: 'change'; rows: readonly RolloutRow[]; gone: readonly string[] };

/**
 * One node, as the page draws it. `began`: when its update to the target began. `ended`: when it ran the target, or failed to.
 * Both in seconds since the epoch, as far as its records tell; 0 otherwise. `stage`: of the rollout plan; empty without one.
 */
export type NodeCell = readonly [
  name: string,
  phase: Phase,
  cause: string,
  revision: string,
  began: number,
  ended: number,
  stage: string,
];

type StageCheck = NonNullable<DaemonRolloutStage['checks']>[number];

/** One stage of the plan that a rollout follows. */
export interface StageStep
  extends Pick<DaemonRolloutStage, 'name' | 'state' | 'nodes' | 'coveredAt' | 'soakUntil' | 'promotedAt'> {
  /** What the open stage waits for: `soaks until 2030-01-01T00:00:00Z`. */
  awaits: string;
  /** How it was passed: `approved by alice`. */
  way: string;
  checks: readonly (Pick<StageCheck, 'name' | 'state'> & { message: string })[];
  /** The commands that get it passed now. */
  decisions: readonly StageDecision[];
}

export type StageDecision = 'approve' | 'promote';

/** What the page says of the whole rollout. */
export interface RolloutHead {
  namespace: string;
  name: string;
  /** For the command line: `ds` or `ads`. */
  kind: string;
  title: string;
  /** Hash of the target revision; empty while it is not known. */
  target: string;
  strategy: string;
  complete: boolean;
  paused: boolean;
  halted: boolean;
  budget: { inUse: number; limit: number };
  online: number;
  phases: Readonly<Record<Phase, number>>;
  causes: readonly { cause: Cause; count: number }[];
  /** How far it is, what holds it, notes: the sentences of `kubectl edgeset explain`. */
  sentences: readonly string[];
  /** Of the rollout plan, in its order; undefined without a plan. */
  stages?: { plan: string; steps: readonly StageStep[] } | undefined;
  /** Newest first. */
  revisions: readonly { hash: string; number: number; images: readonly string[] }[];
  /** The last rollouts, newest first. */
  history: readonly DaemonRolloutHistory[];
  /** What the time line marks, oldest first. */
  marks: readonly { at: string; kind: 'halt' | 'resume' | 'pause' | 'approval' | 'stage' | 'complete'; what: string }[];
  startedAt?: string | undefined;
  finishedAt?: string | undefined;
  estimatedFinishAt?: string | undefined;
}

export type RolloutMessage =
  /** All of it, at the start of a stream. */
  | { type: 'rollout'; head: RolloutHead; nodes: readonly NodeCell[] }
  /** What has changed since. */
  | { type: 'change'; head?: RolloutHead; nodes: readonly NodeCell[]; gone: readonly string[] }
  /** There is nothing to show, and why. */
  | { type: 'nothing'; why: string };

/** What the page says of one node. */
export interface NodeDetails {
  node: string;
  phase: string;
  cause: string;
  /** The sentences of `kubectl edgeset explain --node`. */
  what: string;
  remedy: string;
  pods: readonly { name: string; revision: string; ready: boolean; terminating: boolean; createdAt: string }[];
  /** Of the node. */
  conditions: readonly { type: string; status: string; reason: string; message: string; since: string }[];
  labels: Readonly<Record<string, string>>;
  /** Of its pods, newest first. */
  events: readonly { reason: string; message: string; warning: boolean; at: string }[];
  /** What the user may not read. */
  missing: readonly string[];
}

/** What a page may ask for: the commands of `kubectl edgeset` that act on one DaemonSet, with the user's own rights. */
export interface CommandRequest {
  command: 'pause' | 'resume' | 'set' | 'undo' | StageDecision | 'plan' | 'history';
  namespace: string;
  kind: 'ds' | 'ads';
  name: string;
  /** Only says what would change; the API server checks it. */
  dryRun?: boolean;
  /** Of `set` and `plan`. */
  maxUnavailable?: string;
  /** Of `set` and `plan`. */
  partition?: string;
  /** Of `approve` and `promote`, which must name it. */
  stage?: string;
  /** Of `approve` and `promote`: why, for people. */
  comment?: string;
  /** Of `undo`, and of `history` with the difference of a revision. */
  revision?: number;
}

export interface CommandResult {
  /** As a user would type it. */
  typed: string;
  failed: boolean;
  /** What it did, or why it failed, as the command line prints it. */
  output: string;
}
