import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { DaemonSetView } from '../controller/index.ts';
import {
  annotation,
  formatSelector,
  fromLabelSelector,
  parsePolicy,
  schedulingConstraints,
  templateDigest,
} from '../rollout/index.ts';

/** What the cache keeps of an apps/v1 DaemonSet that opted in. */
export interface NativeView extends DaemonSetView {
  /** The generation that the native controller has observed. */
  observedGeneration: number;
  templateDigest: string;
}

/** Undefined for a DaemonSet that did not opt in or is being deleted: it costs nothing. */
export const toNativeView = (daemonSet: DaemonSet): NativeView | undefined => {
  const { metadata, spec, status } = daemonSet;
  if (!metadata || !spec || metadata.deletionTimestamp) return undefined;
  const annotations = metadata.annotations ?? {};
  if (annotations[annotation.strategy] === undefined && annotations[annotation.proposedStrategy] === undefined)
    return undefined;
  const policy = parsePolicy({
    annotations,
    updateStrategyType: spec.updateStrategy?.type ?? 'RollingUpdate',
    minReadySeconds: spec.minReadySeconds ?? 0,
  });
  const selector = fromLabelSelector(spec.selector);
  if (policy.kind === 'off' || !selector.ok || !spec.template.spec) return undefined;
  return {
    uid: metadata.uid ?? '',
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation: metadata.generation ?? 0,
    observedGeneration: status?.observedGeneration ?? 0,
    templateDigest: templateDigest(spec.template),
    needs: schedulingConstraints(spec.template.spec),
    podSelector: formatSelector(selector.selector),
    policy,
  };
};
