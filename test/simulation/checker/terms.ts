import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { LabelSelector, ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';

/** What is looked at in a DaemonSet of either kind. */
export interface AnyDaemonSet {
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: {
    selector?: LabelSelector;
    minReadySeconds?: number;
    template: PodTemplateSpec;
    updateStrategy?: {
      type?: string;
      rollingUpdate?: {
        maxUnavailable?: number | string;
        maxSurge?: number | string;
        paused?: boolean;
        partition?: number | string;
        selector?: LabelSelector;
      };
    };
    scaleStrategy?: { partitionedScaling?: boolean };
    lifecycle?: {
      preDelete?: { labelsHandler?: Readonly<Record<string, string>>; finalizersHandler?: readonly string[] };
    };
  };
  status?: { observedGeneration?: number };
}

/** What its user asks of a rollout. */
export interface Terms {
  paused: boolean;
  /** How many nodes may be down, or with `surging` have a new pod beside the old one. */
  limit: number | string;
  surging: boolean;
  minReadyMs: number;
  /** The controller that creates its pods has seen what it is now, where that is another process. */
  observed: boolean;
}

export const termsOf = ({ apiVersion, metadata, spec, status }: AnyDaemonSet): Terms => {
  const minReadyMs = (spec?.minReadySeconds ?? 0) * 1000;
  const annotations = metadata?.annotations ?? {};
  if (apiVersion === 'apps/v1')
    return {
      minReadyMs,
      observed: (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0),
      paused: annotations['edgeset.io/paused'] === 'true',
      limit: annotations['apps.openyurt.io/max-unavailable'] ?? '10%',
      surging: false,
    };
  const { maxUnavailable, maxSurge = 0, paused = false } = spec?.updateStrategy?.rollingUpdate ?? {};
  const surging = Number.parseInt(String(maxSurge), 10) > 0;
  return { minReadyMs, observed: true, paused, limit: surging ? maxSurge : (maxUnavailable ?? 1), surging };
};

/** In nodes; a percent is rounded up, and 1 at least. */
export const nodesOf = (limit: number | string, total: number): number => {
  const text = String(limit);
  if (!text.endsWith('%')) return Number(text);
  const percent = Number(text.slice(0, -1));
  return percent === 0 ? 0 : Math.max(1, Math.ceil((percent * total) / 100));
};
