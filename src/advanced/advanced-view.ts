import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { DaemonSetView } from '../controller/index.ts';
import {
  formatSelector,
  fromLabelSelector,
  type IntOrPercent,
  parseIntOrPercent,
  schedulingConstraints,
  selectNothing,
} from '../rollout/index.ts';
import { IN_PLACE_GRACE, PREDELETE_TIMEOUT, parseAdvancedPolicy, secondsOf } from './api/policy.ts';
import type { AdvancedDaemonSet, AdvancedDaemonSetStatus, PreDelete } from './api/types.ts';
import { HOOK_FINALIZER } from './lifecycle/pre-delete.ts';
import { CHANGE_CAUSE } from './revisions/history.ts';

const PROGRESSIVE = 'daemonset.kruise.io/progressive-create-pod';

/** The cached view of an Advanced DaemonSet. */
export interface AdvancedView extends DaemonSetView {
  apiVersion: string;
  /** Its selector is empty and would match every pod in the namespace: it is treated as one that matches nothing. */
  selectsAll: boolean;
  /** As stored, without the API server's defaults for pods. */
  template: PodTemplateSpec;
  /** How many pods are created or removed at once. */
  burst: IntOrPercent;
  /** The partition also limits how many nodes get a pod. */
  progressive: boolean;
  /** Revisions to keep in addition to the target. */
  keep: number;
  /** The user's description of the current template. */
  changeCause: string | undefined;
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

/** Set by the API server on objects deleted with `--cascade=orphan`. */
const ORPHAN_FINALIZER = 'orphan';

/** Undefined for a DaemonSet that is being deleted without our finalizer, and for one without a valid selector or template. */
export const toAdvancedView = (daemonSet: AdvancedDaemonSet): AdvancedView | undefined => {
  const { apiVersion, metadata, spec, status = {} } = daemonSet;
  const { finalizers = [], deletionTimestamp } = metadata;
  if ((deletionTimestamp && !finalizers.includes(HOOK_FINALIZER)) || !spec.template.spec) return undefined;
  const wanted = fromLabelSelector(spec.selector);
  if (!wanted.ok) return undefined;
  // The schema refuses an empty selector, but objects may be older than the schema.
  const selectsAll = wanted.selector.length === 0;
  const selector = selectsAll ? selectNothing : wanted.selector;
  const annotations = metadata.annotations ?? {};
  return {
    apiVersion,
    uid: metadata.uid ?? '',
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation: metadata.generation ?? 0,
    needs: schedulingConstraints(spec.template.spec),
    podSelector: formatSelector(selector),
    selectsAll,
    policy: parseAdvancedPolicy(spec, annotations),
    template: spec.template,
    burst: parseIntOrPercent(String(spec.burstReplicas ?? 250)) ?? { kind: 'int', value: 250 },
    progressive: spec.scaleStrategy?.partitionedScaling === true || annotations[PROGRESSIVE] === 'true',
    keep: spec.revisionHistoryLimit ?? 10,
    changeCause: annotations[CHANGE_CAUSE],
    preDelete: spec.lifecycle?.preDelete,
    preDeleteTimeoutMs: secondsOf(annotations[PREDELETE_TIMEOUT]) ?? Number.POSITIVE_INFINITY,
    graceMs: secondsOf(annotations[IN_PLACE_GRACE]) ?? 0,
    status,
    finalizers,
    deleted: deletionTimestamp ? (finalizers.includes(ORPHAN_FINALIZER) ? 'pods-stay' : 'with-pods') : undefined,
  };
};
