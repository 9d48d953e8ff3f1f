import { annotation } from '../../src/words/index.ts';
import { budgetKey, type CaseKind, type Shape, strategyKey } from '../../test/conformance/kit/index.ts';
import { MEAN_ANNOTATION } from './down-times.ts';

/** What is asked of a DaemonSet. */
export interface Release {
  version: number;
  /** Of the start delays of its pods. */
  meanStartMs: number;
}

/** Status of a DaemonSet of either kind, as far as it is read. */
export interface SetStatus {
  observedGeneration?: number;
  updatedNumberScheduled?: number;
  numberAvailable?: number;
}

/** The DaemonSets that a benchmark is about. */
export interface Workload<R extends Release> {
  kind: CaseKind;
  /** Further flags of the manager that serves them. */
  args?: readonly string[];
  /** How they differ from the DaemonSet of a conformance case. */
  shape(release: R): Shape;
}

/** On all nodes, with the default settle time. */
const shapeOf = ({ version, meanStartMs }: Release, annotations: Shape['annotations'] = {}): Shape => ({
  image: `app:v${version}`,
  annotations: { 'edgeset.io/settle-seconds': null, ...annotations },
  podAnnotations: { [MEAN_ANNOTATION]: String(meanStartMs) },
  podSpec: { nodeSelector: {} },
});

export interface NativeRelease extends Release {
  /** Value of apps.openyurt.io/max-unavailable; undefined: the DaemonSet does not opt in. */
  maxUnavailable: string | undefined;
  /** Value of edgeset.io/partition. Default: none. */
  partition?: string;
  /** Of its pods. Default: none. */
  nodeSelector?: Record<string, string>;
}

export const native: Workload<NativeRelease> = {
  kind: 'native',
  shape({ maxUnavailable, partition, nodeSelector = {}, ...release }) {
    const optIn = maxUnavailable === undefined ? { [strategyKey]: null } : { [budgetKey]: maxUnavailable };
    const shape = shapeOf(release, { ...optIn, ...(partition !== undefined && { 'edgeset.io/partition': partition }) });
    return { ...shape, podSpec: { nodeSelector } };
  },
};

/** How pods are brought to a new template. */
export type Mode = 'recreate' | 'in place' | 'surge';

export interface AdvancedRelease extends Release {
  mode: Mode;
  /** Nodes at a time; a number or a percentage. */
  budget: number | string;
  /** Default: the failure threshold. */
  firstWave?: string | undefined;
}

export const advanced: Workload<AdvancedRelease> = {
  kind: 'advanced',
  shape({ mode, budget, firstWave, ...release }) {
    const rollingUpdate: Shape['rollingUpdate'] =
      mode === 'surge'
        ? { rollingUpdateType: 'Standard', maxSurge: budget, maxUnavailable: 0 }
        : { rollingUpdateType: mode === 'recreate' ? 'Standard' : 'InPlaceIfPossible', maxUnavailable: budget };
    return { ...shapeOf(release, { [annotation.firstWave]: firstWave ?? null }), rollingUpdate };
  },
};
