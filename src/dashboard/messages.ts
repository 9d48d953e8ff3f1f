// What the dashboard's server and its page tell each other.

import type { OwnerStep } from '../rollout/index.ts';
import type { RolloutState, VersionStep } from '../view/index.ts';
import type { Cause, DaemonRolloutHistory, DaemonRolloutStage, Phase } from '../words/index.ts';

/** Who looks at the page. */
export interface SessionInfo {
  /** Empty if the cluster does not tell. */
  user: string;
  /** The context of the kubeconfig, or the host of the API server; empty in a cluster. */
  cluster: string;
  /** The clusters that are shown, in their order, by the contexts of the kubeconfig; absent where it is one. */
  clusters?: readonly string[];
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

export interface RolloutRef {
  /** One of the clusters of the session; absent where it has one. */
  cluster?: string | undefined;
  namespace: string;
  /** For the command line: `ds` or `ads`. */
  kind: string;
  name: string;
}

/** Tells a rollout from all others. Of its parts, only a cluster may have a slash in its name. */
export const rolloutKey = ({ cluster, namespace, kind, name }: RolloutRef): string =>
  [namespace, kind, name, ...(cluster === undefined ? [] : [cluster])].join('/');

/** One rollout, as the page lists it. Numbers are those that the manager wrote last. */
export interface RolloutRow extends RolloutRef {
  state: RolloutState;
  /** In a few words, as `kubectl edgeset status` has it. */
  status: string;
  /** Why, and what to do about it; empty where nothing holds it. */
  why: string;
  /** Hash of the target revision; empty while it is not known. */
  target: string;
  version: VersionStep;
  strategy: string;
  /** By phase, and `online`, `eligible`. */
  nodes: Readonly<Record<string, number>>;
  budget: { inUse: number; limit: number };
  /** Of the rollout plan; undefined without stages. `open`: the name of the open one. */
  stages?: { passed: number; total: number; open: string } | undefined;
  /** The client that changed the template; undefined if nothing tells. */
  changedBy?: string | undefined;
  startedAt?: string | undefined;
  finishedAt?: string | undefined;
  estimatedFinishAt?: string | undefined;
}

/** What a page is told on every stream. */
export type StreamMessage =
  /** The watches fail, or do so no more: what is shown may be old. */
  | { type: 'trouble'; text: string }
  /** The time by the clock that the cluster's times are compared with, epoch ms; again when it is not the viewer's, and every 15 s, so that the page knows that it is heard. */
  | { type: 'clock'; now: number };

/** A cluster whose rollouts are unknown, or may be old. `why` is empty before it has answered for the first time, or failed to. */
export interface SilentCluster {
  cluster: string;
  why: string;
}

/** `silent` is absent where the session has one cluster, and in a change if it is as before. */
export type OverviewMessage =
  /** All of them, at the start of a stream. */
  | { type: 'rollouts'; rows: readonly RolloutRow[]; silent?: readonly SilentCluster[] }
  /** What has changed since; `gone` has the keys of rollouts. */
  | { type: 'change'; rows: readonly RolloutRow[]; gone: readonly string[]; silent?: readonly SilentCluster[] };

/**
 * One node, as the page draws it. `began`: when its update to the target began. `ended`: when it ran the target, or failed to.
 * Both in seconds since the epoch, as far as its records tell; 0 otherwise. `stage`: of the rollout plan; empty without one. `owner`: how
 * far the owner's update is; empty unless owners decide.
 */
export type NodeCell = readonly [
  name: string,
  phase: Phase,
  cause: string,
  revision: string,
  began: number,
  ended: number,
  stage: string,
  owner: OwnerStep | '',
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

/** What a person should know of a rollout first: see `Headline` in the view. */
export interface RolloutHeadline {
  state: RolloutState;
  badge: string;
  /** A sentence without its full stop; empty where nothing needs to be said. */
  title: string;
  evidence: string;
  cause?: { cause: Cause; count: number };
  /** The first failed node. */
  node?: string;
  commands: readonly HeadlineCommand[];
}

export interface HeadlineCommand {
  /** For `set`, somebody has to choose a value first. The page can't `edit`. */
  command: 'undo' | 'resume' | 'approve' | 'set' | 'edit';
  stage?: string;
  /** As a user would type it. */
  typed: string;
}

/** The policy of a rollout, as it is in force. */
export interface RolloutSettings {
  maxUnavailable: string;
  /** Absent unless new pods are created beside the old ones. */
  maxSurge?: string;
  partition: string;
  failureThreshold: string;
  /** NAME or cluster/NAME; absent without a rollout plan. */
  plan?: string;
  /** What is risky about them: sentences. */
  warnings: readonly string[];
}

/** What the page says of the whole rollout. */
export interface RolloutHead extends RolloutRef {
  title: string;
  headline: RolloutHeadline;
  /** Hash of the target revision; empty while it is not known. */
  target: string;
  /** Number of the target revision; 0 while it is not known. */
  revision: number;
  version: VersionStep;
  /** The client that changed the template, and why somebody did; undefined if nothing tells. */
  changedBy?: string | undefined;
  changeCause?: string | undefined;
  strategy: string;
  settings: RolloutSettings;
  budget: { inUse: number; limit: number };
  /** Failed nodes halt the rollout at this number. */
  breaker: { failures: number; suspects: number; haltsAt: number };
  /** Nodes a minute; undefined while nobody knows. */
  perMinute?: number | undefined;
  eligible: number;
  online: number;
  phases: Readonly<Record<Phase, number>>;
  /** By how far the owner's update is; absent unless owners decide. */
  owners?: Readonly<Record<OwnerStep, number>>;
  causes: readonly { cause: Cause; count: number }[];
  /** Sentences of `kubectl edgeset explain`, besides the headline. */
  notes: readonly string[];
  /** Of the rollout plan, in its order; undefined without a plan. */
  stages?: { plan: string; steps: readonly StageStep[] } | undefined;
  /** The version, or the revision, that `undo` returns to; absent where it needs to be told. */
  undoTo?: string;
  /** Newest first. */
  revisions: readonly { hash: string; number: number; images: readonly string[] }[];
  /** The last rollouts, newest first. */
  history: readonly DaemonRolloutHistory[];
  /** What the time line marks, oldest first. */
  marks: readonly { at: string; kind: 'halt' | 'resume' | 'pause' | 'approval' | 'stage' | 'complete'; what: string }[];
  startedAt?: string | undefined;
  finishedAt?: string | undefined;
  /** Since when it is halted, or paused. */
  stoppedAt?: string | undefined;
  estimatedFinishAt?: string | undefined;
}

export type RolloutMessage =
  /** All of it, at the start of a stream. */
  | { type: 'rollout'; head: RolloutHead; nodes: readonly NodeCell[] }
  /** What has changed since. */
  | { type: 'change'; head?: RolloutHead; nodes: readonly NodeCell[]; gone: readonly string[] }
  /** There is nothing to show, and why. */
  | { type: 'nothing'; why: string };

export interface ObjectEvent {
  reason: string;
  message: string;
  warning: boolean;
  /** When it was seen last. */
  at: string;
  /** How often it was seen. */
  count: number;
}

/** The Events about a rollout: of its DaemonSet and its DaemonRollout, newest first. */
export interface RolloutEvents {
  events: readonly ObjectEvent[];
  /** What the user may not read. */
  missing: readonly string[];
}

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
  events: readonly ObjectEvent[];
  /** What the user may not read. */
  missing: readonly string[];
}

/** What a page may ask for: the commands of `kubectl edgeset` that act on one DaemonSet, with the user's own rights. */
export interface CommandRequest extends RolloutRef {
  command: 'pause' | 'resume' | 'set' | 'undo' | StageDecision | 'plan';
  kind: 'ds' | 'ads';
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
  /** Of `undo`: the revision to return to. */
  revision?: number;
}

export interface CommandResult {
  /** As a user would type it, also if it was a dry run. */
  typed: string;
  failed: boolean;
  /** What it did, as the command line prints it, or why it failed. Empty for `plan`. */
  output: string;
  /** What the user should know about it: sentences. */
  notes: readonly string[];
  /** Before and after, where it changes settings or the template. */
  changes?: readonly { what: string; from: string; to: string }[];
  /** What `plan` says. A line is about the last one before it that has a smaller depth. */
  plan?: readonly { text: string; depth: number }[];
  /** There is nothing to change. */
  isSame?: boolean;
}
