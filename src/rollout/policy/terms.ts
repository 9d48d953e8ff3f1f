import { annotation } from './annotations.ts';
import { type IntOrPercent, percent } from './int-or-percent.ts';
import {
  createReader,
  type PolicyError,
  type Predownload,
  readDeadline,
  readHash,
  readOnFailure,
  readParallelism,
  readPredownload,
  readResume,
  readSeconds,
  readShare,
  readSpread,
  readThreshold,
  readTopologyKey,
} from './values.ts';

/** The part of a policy that stands in the same annotations on DaemonSets of every kind. */
export interface Terms {
  /** How long a returned node must have been Ready before it is acted on. Default 10 s. */
  settleMs: number;
  /** How long a pod may take to become available before its node counts as failed. Default 10 min. */
  progressDeadlineMs: number;
  /** How long after our act a node that goes offline is a suspect. Default 5 min. */
  suspectWindowMs: number;
  /** An integer is taken as it is; a percent is of the nodes acted on, at least 3. Default 10%. */
  failureThreshold: IntOrPercent;
  onFailure: 'halt' | 'rollback';
  /** Node label whose values a wave is spread over. Default none. */
  topologyKey: string | undefined;
  /** Undefined: preferred on nodes with an agent that pulls, off on others. */
  predownload: Predownload | undefined;
  /** How many nodes pull images ahead at a time; a percent is of eligible nodes, rounded up. Undefined: not said. */
  predownloadParallelism: IntOrPercent | undefined;
  /** So many nodes are to be updated before the others pull; a percent is of eligible nodes, rounded up. Default: none. */
  predownloadMinUpdated: IntOrPercent | undefined;
  /** How long one try to pull images ahead may take on a node. Default 5 min. */
  predownloadTimeoutMs: number;
  /** The user's consent to go on after a halt: the revision's hash label, and the whole value, so that a new one counts anew. */
  resume: { hash: string; value: string } | undefined;
  /** Hash label of the revision that a rollback of ours took away. */
  rolledBackFrom: string | undefined;
  /** With the strategy ota: when owners can no longer put an update off, epoch ms. Default: never. */
  otaDeadline: number | undefined;
  /** Devices act so long after the deadline at most, each at a time of its own. Default 1 h. */
  otaDeadlineSpreadMs: number;
}

/** How long devices may take after the owners' deadline where nothing is said of it. */
export const DEFAULT_SPREAD_MS = 3_600_000;

/** Reads the terms; of a value that cannot be read an error is added to `errors`, and the default stands in its place. */
export const readTerms = (annotations: Readonly<Record<string, string>>, errors: PolicyError[]): Terms => {
  const read = createReader(annotations, errors);
  return {
    settleMs: read(annotation.settleSeconds, readSeconds(0), 10_000),
    progressDeadlineMs: read(annotation.progressDeadlineSeconds, readSeconds(1), 600_000),
    suspectWindowMs: read(annotation.suspectWindowSeconds, readSeconds(0), 300_000),
    failureThreshold: read(annotation.failureThreshold, readThreshold, percent(10)),
    onFailure: read(annotation.onFailure, readOnFailure, 'halt'),
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
    otaDeadline: read(annotation.otaDeadline, readDeadline, undefined),
    otaDeadlineSpreadMs: read(annotation.otaDeadlineSpread, readSpread, DEFAULT_SPREAD_MS),
  };
};
