import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { Condition, LabelSelector, ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { defineResource } from '../../kube/index.ts';

/** Where the API serves Advanced DaemonSets: OpenKruise's group, kind and versions. */
export const advancedDaemonSetApi = {
  group: 'apps.kruise.io',
  /** Every served version, the stored one last. */
  versions: ['v1alpha1', 'v1beta1'],
  storedVersion: 'v1beta1',
  kind: 'DaemonSet',
  listKind: 'DaemonSetList',
  plural: 'daemonsets',
  singular: 'daemonset',
  shortNames: ['daemon', 'ads'],
} as const;

/** A number, or a percentage such as `10%`. */
export type IntOrPercentValue = number | string;

export const updateTypes = ['RollingUpdate', 'OnDelete'] as const;
export type UpdateType = (typeof updateTypes)[number];

export const rollingUpdateTypes = ['Standard', 'InPlaceIfPossible', 'Surging'] as const;
export type RollingUpdateType = (typeof rollingUpdateTypes)[number];

/** What each field means is said once, in the schema (crd-spec.ts), where `kubectl explain` finds it too. */
export interface RollingUpdate {
  rollingUpdateType?: RollingUpdateType;
  maxUnavailable?: IntOrPercentValue;
  maxSurge?: IntOrPercentValue;
  selector?: LabelSelector;
  partition?: IntOrPercentValue;
  paused?: boolean;
}

export interface PreDelete {
  labelsHandler?: Readonly<Record<string, string>>;
  finalizersHandler?: readonly string[];
  markPodNotReady?: boolean;
}

export interface AdvancedDaemonSetSpec {
  selector: LabelSelector;
  template: PodTemplateSpec;
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  burstReplicas?: IntOrPercentValue;
  updateStrategy?: { type?: UpdateType; rollingUpdate?: RollingUpdate };
  scaleStrategy?: { partitionedScaling?: boolean };
  lifecycle?: { preDelete?: PreDelete };
}

export interface AdvancedDaemonSetStatus {
  currentNumberScheduled?: number;
  desiredNumberScheduled?: number;
  numberMisscheduled?: number;
  numberReady?: number;
  numberAvailable?: number;
  numberUnavailable?: number;
  updatedNumberScheduled?: number;
  observedGeneration?: number;
  collisionCount?: number;
  conditions?: Condition[];
  updateRevision?: string;
  daemonSetHash?: string;
}

export interface AdvancedDaemonSet {
  apiVersion: string;
  kind: typeof advancedDaemonSetApi.kind;
  metadata: ObjectMeta;
  spec: AdvancedDaemonSetSpec;
  status?: AdvancedDaemonSetStatus;
}

/** In the stored version: whatever version a user writes, it is read in this one. */
export const advancedDaemonSets = defineResource<AdvancedDaemonSet>({
  group: advancedDaemonSetApi.group,
  version: advancedDaemonSetApi.storedVersion,
  plural: advancedDaemonSetApi.plural,
  kind: advancedDaemonSetApi.kind,
  namespaced: true,
});
