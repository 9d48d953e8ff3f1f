import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { Condition, LabelSelector, ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { defineResource } from '../../../kube/index.ts';
import { ADVANCED_ROLLOUT_SUFFIX } from '../../../words/index.ts';

/** OpenKruise's group, versions and kind of Advanced DaemonSets. */
export const advancedDaemonSetApi = {
  group: 'apps.kruise.io',
  /** Every served version; the storage version comes last. */
  versions: ['v1alpha1', 'v1beta1'],
  storedVersion: 'v1beta1',
  kind: 'DaemonSet',
  listKind: 'DaemonSetList',
  plural: 'daemonsets',
  singular: 'daemonset',
  shortNames: ['daemon', 'ads'],
} as const;

/** The name of the DaemonRollout has a suffix, and the API server's limit is 253. */
export const MAX_NAME_LENGTH = 253 - ADVANCED_ROLLOUT_SUFFIX.length;

/** An integer, or a percentage such as `10%`. */
export type IntOrPercentValue = number | string;

export const updateTypes = ['RollingUpdate', 'OnDelete'] as const;
export type UpdateType = (typeof updateTypes)[number];

export const rollingUpdateTypes = ['Standard', 'InPlaceIfPossible', 'Surging'] as const;
export type RollingUpdateType = (typeof rollingUpdateTypes)[number];

/** The schema in crd-spec.ts documents each field; `kubectl explain` shows it. */
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

/** Objects are read in the storage version, whatever version they were written in. */
export const advancedDaemonSets = defineResource<AdvancedDaemonSet>({
  group: advancedDaemonSetApi.group,
  version: advancedDaemonSetApi.storedVersion,
  plural: advancedDaemonSetApi.plural,
  kind: advancedDaemonSetApi.kind,
  namespaced: true,
});

/** The controller owner reference of an object that the DaemonSet manages. */
export const controllerRef = ({ apiVersion, name, uid }: { apiVersion: string; name: string; uid: string }) => ({
  apiVersion,
  kind: advancedDaemonSetApi.kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});
