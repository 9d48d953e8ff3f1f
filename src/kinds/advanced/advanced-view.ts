import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { type DaemonSetView, ORPHAN_FINALIZER, selectorTooLong } from '../../controller/index.ts';
import {
  formatSelector,
  fromLabelSelector,
  heldBy,
  type IntOrPercent,
  type PolicyError,
  parseIntOrPercent,
  type Selector,
  schedulingConstraints,
  selectNothing,
  templateOrigin,
  tooManyNeeds,
} from '../../rollout/index.ts';
import { annotation } from '../../words/index.ts';
import { IN_PLACE_GRACE, parseAdvancedPolicy, secondsOf } from './api/policy.ts';
import type { AdvancedDaemonSet, AdvancedDaemonSetStatus, PreDelete } from './api/types.ts';
import { HOOK_FINALIZER } from './lifecycle/pre-delete.ts';
import { describing } from './revisions/history.ts';

const PROGRESSIVE = 'daemonset.kruise.io/progressive-create-pod';

/** The cached view of an Advanced DaemonSet. */
export interface AdvancedView extends DaemonSetView {
  apiVersion: string;
  /**
   * Why its selector can't be used: it is empty and would match every pod in the namespace, or it is too long for a request.
   * It is treated as one that matches nothing.
   */
  selectorError: { reason: 'SelectingAll' | 'SelectorTooLong'; error: PolicyError } | undefined;
  /** As stored, without the API server's defaults for pods. */
  template: PodTemplateSpec;
  /** How many pods are created or removed at once. */
  burst: IntOrPercent;
  /** The partition also limits how many nodes get a pod. */
  progressive: boolean;
  /** Revisions to keep in addition to the target. */
  keep: number;
  /** What users say about the current template. */
  description: Readonly<Record<string, string>>;
  preDelete: PreDelete | undefined;
  /** How long the preDelete hook may hold a pod; Infinity for no limit. */
  preDeleteTimeoutMs: number;
  /** How long a pod is out of service before its containers are updated. */
  graceMs: number;
  status: AdvancedDaemonSetStatus;
  finalizers: readonly string[];
  /** It is being deleted with its pods, or without them (`--cascade=orphan`). */
  deleted: 'with-pods' | 'pods-stay' | undefined;
}

const emptySelector: PolicyError = {
  field: 'spec.selector',
  value: '{}',
  problem: 'is empty and would match every pod in the namespace',
  remedy: 'delete the DaemonSet with --cascade=orphan and create it again with a selector that matches its template',
};

const findSelectorError = (selector: Selector): AdvancedView['selectorError'] => {
  // The schema refuses an empty selector, but objects may be older than the schema.
  if (selector.length === 0) return { reason: 'SelectingAll', error: emptySelector };
  const error = selectorTooLong(formatSelector(selector));
  return error && { reason: 'SelectorTooLong', error };
};

/**
 * Undefined for a DaemonSet that is being deleted without our finalizer, and for one without a valid selector or template.
 * `known`: see `Kind.toView`.
 */
export const toAdvancedView = (daemonSet: AdvancedDaemonSet, known?: AdvancedView): AdvancedView | undefined => {
  const { apiVersion, metadata, spec, status = {} } = daemonSet;
  const { finalizers = [], deletionTimestamp } = metadata;
  if ((deletionTimestamp && !finalizers.includes(HOOK_FINALIZER)) || !spec.template.spec) return undefined;
  const wanted = fromLabelSelector(spec.selector);
  if (!wanted.ok) return undefined;
  const selectorError = findSelectorError(wanted.selector);
  const annotations = metadata.annotations ?? {};
  const { generation = 0 } = metadata;
  const sameSpec = known?.generation === generation ? known : undefined;
  const needs = sameSpec?.needs ?? schedulingConstraints(spec.template.spec);
  return {
    apiVersion,
    uid: metadata.uid ?? '',
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation,
    needs,
    podSelector: formatSelector(selectorError ? selectNothing : wanted.selector),
    selectorError,
    policy: heldBy(parseAdvancedPolicy(spec, annotations, metadata.name), tooManyNeeds(needs)),
    // Its digest is known.
    template: sameSpec?.template ?? spec.template,
    origin: templateOrigin(metadata, spec.template),
    burst: parseIntOrPercent(String(spec.burstReplicas ?? 250)) ?? { kind: 'int', value: 250 },
    progressive: spec.scaleStrategy?.partitionedScaling === true || annotations[PROGRESSIVE] === 'true',
    keep: spec.revisionHistoryLimit ?? 10,
    description: describing(annotations),
    preDelete: spec.lifecycle?.preDelete,
    preDeleteTimeoutMs: secondsOf(annotations[annotation.preDeleteTimeoutSeconds]) ?? Number.POSITIVE_INFINITY,
    graceMs: secondsOf(annotations[IN_PLACE_GRACE]) ?? 0,
    status,
    finalizers,
    deleted: deletionTimestamp ? (finalizers.includes(ORPHAN_FINALIZER) ? 'pods-stay' : 'with-pods') : undefined,
  };
};
