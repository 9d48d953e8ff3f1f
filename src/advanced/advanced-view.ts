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

/** What is kept of an Advanced DaemonSet. */
export interface AdvancedView extends DaemonSetView {
  apiVersion: string;
  /** Its selector is empty, and would take every pod of the namespace: it is taken for one that matches nothing. */
  selectsAll: boolean;
  /** As it is stored: without the defaults that the API server knows of pods. */
  template: PodTemplateSpec;
  /** Most pods that are created, or removed, in one go. */
  burst: IntOrPercent;
  /** The partition limits how many nodes get a pod, too. */
  progressive: boolean;
  /** Revisions to keep beside the target. */
  keep: number;
  /** What the user says of the present template. */
  changeCause: string | undefined;
  preDelete: PreDelete | undefined;
  /** How long a hook's controller may take before a pod is deleted without it; Infinity for as long as it likes. */
  preDeleteTimeoutMs: number;
  /** How long a pod is out of service before its containers are exchanged. */
  graceMs: number;
  status: AdvancedDaemonSetStatus;
  finalizers: readonly string[];
  /** It is being deleted, and so are its pods; or they are to stay, with `--cascade=orphan`. */
  deleted: 'with-pods' | 'pods-stay' | undefined;
}

/** The API server's own, of what is deleted with `--cascade=orphan`. */
const ORPHAN_FINALIZER = 'orphan';

/** Undefined for one that is being deleted and does not wait for us, and for one that no schema of ours has seen. */
export const toAdvancedView = (daemonSet: AdvancedDaemonSet): AdvancedView | undefined => {
  const { apiVersion, metadata, spec, status = {} } = daemonSet;
  const { finalizers = [], deletionTimestamp } = metadata;
  if ((deletionTimestamp && !finalizers.includes(HOOK_FINALIZER)) || !spec.template.spec) return undefined;
  const wanted = fromLabelSelector(spec.selector);
  if (!wanted.ok) return undefined;
  // The schema refuses one that is empty, but not in objects from before it was there.
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
