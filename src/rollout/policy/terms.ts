import { annotation } from '../../words/index.ts';
import { type IntOrPercent, percent } from './int-or-percent.ts';
import {
  createReader,
  type PlanName,
  type PolicyError,
  type Predownload,
  readDeadline,
  readFirstWave,
  readHash,
  readOnFailure,
  readOnImageDrift,
  readParallelism,
  readPlanName,
  readPredownload,
  readResume,
  readSeconds,
  readShare,
  readSpread,
  readThreshold,
  readTopologyKey,
} from './values.ts';

/** The part of a policy that DaemonSets of every kind set with the same annotations. */
export interface Terms {
  /** How long a returned node must have been Ready before it is updated. Default 10 s. */
  settleMs: number;
  /** How long a pod may take to become available before its node counts as failed. Default 10 min. */
  progressDeadlineMs: number;
  /** How long after our update a node that goes offline is a suspect. Default 5 min. */
  suspectWindowMs: number;
  /** A percentage is of the nodes updated so far, and at least 3 nodes. Default 10%. */
  failureThreshold: IntOrPercent;
  /**
   * How many nodes may have an update of a revision before one of them is available; a percentage is of online eligible nodes,
   * rounded up. 100% for no such limit. Undefined: the manager's, whose default is the failure threshold.
   */
  firstWave: IntOrPercent | undefined;
  onFailure: 'halt' | 'rollback';
  /** What follows when nodes report different IDs of one image of the target. Default warn. */
  onImageDrift: 'warn' | 'halt';
  /** Node label over whose values updates are spread. Default none. */
  topologyKey: string | undefined;
  /** Undefined: off. */
  predownload: Predownload | undefined;
  /** How many nodes pull images ahead at once; a percentage is of eligible nodes, rounded up. Undefined: not set. */
  predownloadParallelism: IntOrPercent | undefined;
  /** How many nodes to update before the others pull; a percentage is of eligible nodes, rounded up. Default: none. */
  predownloadMinUpdated: IntOrPercent | undefined;
  /** How long one try to pull images ahead may take on a node. Default 5 min. */
  predownloadTimeoutMs: number;
  /** The user's consent to continue after a halt: the revision's hash label, and the whole value, so that a new value counts again. */
  resume: { hash: string; value: string } | undefined;
  /** Hash label of the revision that we rolled back. */
  rolledBackFrom: string | undefined;
  /** The rollout plan that the DaemonSet names; undefined without one. */
  rolloutPlan: PlanName | undefined;
  /** With the strategy ota: when owners can no longer postpone an update, epoch ms. Default: never. */
  otaDeadline: number | undefined;
  /** Devices update at most this long after the deadline, each at its own time. Default 1 h. */
  otaDeadlineSpreadMs: number;
}

export const DEFAULT_SETTLE_MS = 10_000;

/** Default of `otaDeadlineSpreadMs`. */
export const DEFAULT_SPREAD_MS = 3_600_000;

/** Reads the terms. For an invalid value it adds an error to `errors` and uses the default. */
export const readTerms = (annotations: Readonly<Record<string, string>>, errors: PolicyError[]): Terms => {
  const read = createReader(annotations, errors);
  return {
    settleMs: read(annotation.settleSeconds, readSeconds(0), DEFAULT_SETTLE_MS),
    progressDeadlineMs: read(annotation.progressDeadlineSeconds, readSeconds(1), 600_000),
    suspectWindowMs: read(annotation.suspectWindowSeconds, readSeconds(0), 300_000),
    failureThreshold: read(annotation.failureThreshold, readThreshold, percent(10)),
    firstWave: read(annotation.firstWave, readFirstWave, undefined),
    onFailure: read(annotation.onFailure, readOnFailure, 'halt'),
    onImageDrift: read(annotation.onImageDrift, readOnImageDrift, 'warn'),
    topologyKey: read(annotation.topologyKey, readTopologyKey, undefined),
    predownload: read(annotation.predownload, readPredownload, undefined),
    predownloadParallelism: read(annotation.predownloadParallelism, readParallelism, undefined),
    predownloadMinUpdated: read(
      annotation.predownloadMinUpdatedReadyPods,
      readShare('how many nodes are updated before the others pull'),
      undefined,
    ),
    predownloadTimeoutMs: read(annotation.predownloadTimeoutSeconds, readSeconds(1), 300_000),
    resume: read(annotation.resume, readResume, undefined),
    rolledBackFrom: read(annotation.rolledBackFrom, readHash, undefined),
    rolloutPlan: read(annotation.rolloutPlan, readPlanName, undefined),
    otaDeadline: read(annotation.otaDeadline, readDeadline, undefined),
    otaDeadlineSpreadMs: read(annotation.otaDeadlineSpread, readSpread, DEFAULT_SPREAD_MS),
  };
};
