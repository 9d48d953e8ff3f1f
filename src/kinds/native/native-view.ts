import type { DaemonSet, DaemonSetCondition } from 'kubernetes-types/apps/v1.d.ts';
import { type DaemonSetView, selectorTooLong } from '../../controller/index.ts';
import {
  type ConditionState,
  formatSelector,
  fromLabelSelector,
  heldBy,
  optsIn,
  parsePolicy,
  schedulingConstraints,
  selectNothing,
  templateDigest,
  templateOrigin,
  tooManyNeeds,
} from '../../rollout/index.ts';

/** The native controller sets no condition of these types, and keeps those of others. */
const types: ReadonlySet<string> = new Set<ConditionState['type']>([
  'Ready',
  'Reconciling',
  'Stalled',
  'Paused',
  'ImageDrift',
]);

/** The conditions of a native DaemonSet that are ours. */
export const ownConditions = ({ status }: { status?: DaemonSet['status'] | undefined }): DaemonSetCondition[] =>
  (status?.conditions ?? []).filter(({ type }) => types.has(type));

/** What the cache keeps of an apps/v1 DaemonSet that opted in. */
export interface NativeView extends DaemonSetView {
  /** The generation that the native controller has observed. */
  observedGeneration: number;
  templateDigest: string;
  /** Those of our conditions that its status has. */
  conditions: readonly DaemonSetCondition[];
}

/** Undefined for a DaemonSet that did not opt in or is being deleted: it costs nothing. `known`: see `Kind.toView`. */
export const toNativeView = (daemonSet: DaemonSet, known?: NativeView): NativeView | undefined => {
  const { metadata, spec, status } = daemonSet;
  if (!metadata || !spec || metadata.deletionTimestamp) return undefined;
  const annotations = metadata.annotations ?? {};
  if (!optsIn(annotations)) return undefined;
  const policy = parsePolicy({
    name: metadata.name,
    annotations,
    updateStrategyType: spec.updateStrategy?.type ?? 'RollingUpdate',
    minReadySeconds: spec.minReadySeconds ?? 0,
  });
  const selector = fromLabelSelector(spec.selector);
  if (policy.kind === 'off' || !selector.ok || !spec.template.spec) return undefined;
  const podSelector = formatSelector(selector.selector);
  const tooLong = selectorTooLong(podSelector);
  const { generation = 0 } = metadata;
  const sameSpec = known?.generation === generation ? known : undefined;
  const needs = sameSpec?.needs ?? schedulingConstraints(spec.template.spec);
  return {
    uid: metadata.uid ?? '',
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation,
    observedGeneration: status?.observedGeneration ?? 0,
    templateDigest: sameSpec?.templateDigest ?? templateDigest(spec.template),
    origin: templateOrigin(metadata, spec.template),
    conditions: ownConditions(daemonSet),
    needs,
    // The watch of its pods would fail for ever, and no replica would become ready.
    podSelector: tooLong ? formatSelector(selectNothing) : podSelector,
    policy: heldBy(policy, tooLong, tooManyNeeds(needs)),
  };
};
