import type { ReachTerms } from '../../src/reach/index.ts';
import type { Strategy } from './rollout-rules.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The sizes of the rings, in their order. */
export const RINGS = [10, 90, 900] as const;
export const CLUSTERS = 1_000;

/** How a ManifestWorkReplicaSet, its Placement and the hub are set up. */
export interface Setting {
  strategy: Strategy;
  /** The Placement tolerates clusters that are unreachable; without, they are not selected, and their works are deleted. */
  tolerates: boolean;
  /** `edgeset reach` labels the clusters, and the rings select those that are online or suspect. */
  reach?: ReachTerms;
}

/** What a version does in a cluster. */
export type Version =
  | { kind: 'good' }
  /** Its pods don't start: the rollout in the cluster halts at its first node. */
  | { kind: 'halts' }
  /** Cuts the link of half of the clusters, at some time from `fromMs` to `toMs` after its first pod has started there. */
  | { kind: 'cuts'; fromMs: number; toMs: number };

export interface Scenario {
  seed: number;
  setting: Setting;
  version: Version;
  /** Each new pod must be ready for so long before the next node of its cluster. */
  minReadyMs: number;
  outages: Outages;
}

/**
 * Both take a tenth of the time, and last half a day on average. Half of the mixed ones end within four hours, and one in a hundred
 * lasts more than five days.
 */
export type Outages = 'mixed' | 'even';

/** Of one simulated rollout. Times are hours after the new version was released; Infinity: not within the simulated time. */
export interface Outcome {
  /** Clusters in which the version was started. */
  taken: number;
  /** Clusters whose link it cut. */
  cut: number;
  /** When the last ring got it. */
  lastRing: number;
  /** When nine tenths of all clusters, which is as many as are online, ran it on all their nodes. */
  most: number;
  /** Clusters that were away for a while, and lost the DaemonSet for it. */
  stripped: number;
}
