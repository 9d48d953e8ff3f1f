import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { LabelSelector, ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import type { Share } from './budget.ts';

/** The fields of a DaemonSet, of either kind, that the checks read. */
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
        rollingUpdateType?: string;
        maxUnavailable?: Share;
        maxSurge?: Share;
        paused?: boolean;
        partition?: Share;
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

/** What the user of a DaemonSet asks of its rollout. */
export interface Policy {
  paused: boolean;
  /** `limit` counts new pods beside old ones, not nodes that are down. */
  surging: boolean;
  /** The budget. */
  limit: Share;
  maxUnavailable: Share;
  maxSurge: Share;
  /** Nodes that keep their old revision. */
  partition: Share;
  /** The user deletes pods by hand: OnDelete, or a native DaemonSet that is not opted in. */
  manual: boolean;
  /** The owner of each node decides when its pod is replaced. */
  owners: boolean;
  minReadyMs: number;
  /** The native DaemonSet controller has observed the present generation. */
  observed: boolean;
}

export const isNative = ({ apiVersion }: AnyDaemonSet): boolean => apiVersion === 'apps/v1';

const modelOf = ({ metadata }: AnyDaemonSet): string | undefined =>
  metadata?.annotations?.['apps.openyurt.io/update-strategy'];

/** The owner of each node decides when its pod is replaced. */
export const isOta = (daemonSet: AnyDaemonSet | undefined): boolean =>
  daemonSet !== undefined && modelOf(daemonSet)?.toLowerCase() === 'ota';

export const policyOf = (daemonSet: AnyDaemonSet): Policy => {
  const { metadata, spec, status } = daemonSet;
  const annotations = metadata?.annotations ?? {};
  const owners = isOta(daemonSet);
  const minReadyMs = (spec?.minReadySeconds ?? 0) * 1000;
  if (isNative(daemonSet)) {
    const limit = annotations['apps.openyurt.io/max-unavailable'] ?? '10%';
    return {
      paused: annotations['edgeset.io/paused'] === 'true',
      surging: false,
      limit,
      maxUnavailable: limit,
      maxSurge: 0,
      partition: annotations['edgeset.io/partition'] ?? 0,
      manual: modelOf(daemonSet) === undefined,
      owners,
      minReadyMs,
      observed: (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0),
    };
  }
  const { type, rollingUpdate = {} } = spec?.updateStrategy ?? {};
  const isSurgingType = rollingUpdate.rollingUpdateType === 'Surging';
  const maxSurge = rollingUpdate.maxSurge ?? (isSurgingType ? 1 : 0);
  const hasNoDefault = isSurgingType || rollingUpdate.maxSurge !== undefined;
  const maxUnavailable = rollingUpdate.maxUnavailable ?? (hasNoDefault ? 0 : 1);
  const surging = Number.parseInt(String(maxSurge), 10) > 0;
  return {
    paused: rollingUpdate.paused ?? false,
    surging,
    limit: surging ? maxSurge : maxUnavailable,
    maxUnavailable,
    maxSurge,
    partition: rollingUpdate.partition ?? 0,
    manual: type === 'OnDelete' && !owners,
    owners,
    minReadyMs,
    observed: true,
  };
};

/** What did not change between two versions of an object is usually shared by them. */
export const hasSameTemplate = (one: AnyDaemonSet | undefined, other: AnyDaemonSet | undefined): boolean =>
  one?.spec?.template === other?.spec?.template ||
  JSON.stringify(one?.spec?.template) === JSON.stringify(other?.spec?.template);
