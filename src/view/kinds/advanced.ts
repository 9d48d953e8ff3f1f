import {
  type AdvancedDaemonSet,
  type AdvancedView,
  advancedDaemonSetApi,
  createAdvancedKind,
  parseAdvancedPolicy,
  readConflict,
  restoreTemplate,
  rollingField,
} from '../../kinds/advanced/index.ts';
import { isKubeError } from '../../kube/index.ts';
import { formatIntOrPercent, livePod, parseSelector } from '../../rollout/index.ts';
import { OptionError } from '../../runtime/index.ts';
import { INSTALL_CRDS } from '../connection.ts';
import { CommandError } from '../errors.ts';
import type { RolloutReading } from '../rollout-display.ts';
import { type DaemonSetKind, defineKind, type Overrides } from './kind.ts';

const { group, storedVersion } = advancedDaemonSetApi;

const fields: DaemonSetKind['fields'] = {
  maxUnavailable: rollingField('maxUnavailable'),
  partition: rollingField('partition'),
  nodeSelector: rollingField('selector'),
  unpaused: rollingField('paused'),
};

const selectorOf = (text: string) => {
  const parsed = parseSelector(text);
  if (!parsed.ok) throw new OptionError('--node-selector', `"${text}" ${parsed.problem}: ${parsed.remedy}`);
  return {
    matchExpressions: parsed.selector.map(({ key, operator, values }) => ({ key, operator, values: [...values] })),
  };
};

const overridden = (
  daemonSet: AdvancedDaemonSet,
  { maxUnavailable, partition, nodeSelector, unpaused }: Overrides,
): AdvancedDaemonSet => {
  const { spec } = daemonSet;
  const rollingUpdate = {
    ...spec.updateStrategy?.rollingUpdate,
    // Only one of the two bounds is in effect: setting this one clears the other.
    ...(maxUnavailable !== undefined && { maxUnavailable, maxSurge: 0 }),
    ...(partition !== undefined && { partition }),
    ...(nodeSelector !== undefined && { selector: selectorOf(nodeSelector) }),
    ...(unpaused && { paused: false }),
  };
  return { ...daemonSet, spec: { ...spec, updateStrategy: { ...spec.updateStrategy, rollingUpdate } } };
};

/** Clients that don't know IntOrString read a number as one. */
const toField = (text: string): string | number => (/^\d+$/.test(text.trim()) ? Number(text) : text.trim());

const settingsPatch = (
  { spec }: AdvancedDaemonSet,
  { maxUnavailable, partition }: Pick<Overrides, 'maxUnavailable' | 'partition'>,
): { spec: object } => {
  const { maxSurge, rollingUpdateType } = spec.updateStrategy?.rollingUpdate ?? {};
  const mayHaveSurge = maxSurge !== undefined || rollingUpdateType === 'Surging';
  const rollingUpdate = {
    // As in `overridden`: only one of the two bounds is in effect.
    ...(maxUnavailable !== undefined && {
      maxUnavailable: toField(maxUnavailable),
      ...(mayHaveSurge && { maxSurge: 0 }),
    }),
    ...(partition !== undefined && { partition: toField(partition) }),
  };
  return { spec: { updateStrategy: { rollingUpdate } } };
};

/** What must be removed from a pod before it is deleted. */
const describeHandlers = ({ preDelete }: AdvancedView): string => {
  const labels = Object.entries(preDelete?.labelsHandler ?? {}).map(([key, value]) => `label ${key}=${value}`);
  const finalizers = (preDelete?.finalizersHandler ?? []).map((name) => `finalizer ${name}`);
  return [...labels, ...finalizers].join(', ');
};

const notes = ({ view, ledger }: RolloutReading & { view: AdvancedView }): string[] => {
  const { policy, tally, state } = ledger;
  const lines: string[] = [];
  if (view.deleted === 'with-pods')
    lines.push('It is being deleted: its pods are deleted first, each after its preDelete hook.');
  const preparing = tally.causes.get('preparing') ?? 0;
  if (preparing > 0 && view.preDelete)
    lines.push(
      `spec.lifecycle.preDelete: a pod is deleted once your controller has removed its ${describeHandlers(view)}.`,
    );
  const ungated = policy.inPlace
    ? Array.from(ledger.records(), (record) => livePod(record)?.facts).filter(
        (pod) => pod && !pod.hasInPlaceGate && pod.revision !== state.target?.hash,
      ).length
    : 0;
  if (ungated > 0)
    lines.push(
      `${ungated} of the pods were created without the readiness gate InPlaceUpdateReady: they are replaced once, and updated in place after that.`,
    );
  if (view.progressive && policy.partition.value > 0 && (tally.causes.get('no-pod') ?? 0) > 0)
    lines.push(
      `Pods are created progressively: while ${fields.partition} is ${formatIntOrPercent(policy.partition)}, not every node gets a pod.`,
    );
  return lines;
};

/** DaemonSets of apps.kruise.io. */
export const advanced: DaemonSetKind = defineKind(createAdvancedKind(), {
  label: `daemonset.${group}`,
  title: 'Advanced DaemonSet',
  recordsDefaults: true,
  podController: 'manager',
  servesHint: 'has "advanced" in its --controllers and serves this namespace',
  failureEvents: 'FailedDelete, FailedUpdatePodInPlace and FailedCreate',
  fields,
  policyOf: ({ spec, metadata }) => parseAdvancedPolicy(spec, metadata.annotations ?? {}, metadata.name),
  pauseOf: ({ spec }) => (spec.updateStrategy?.rollingUpdate?.paused ? 'on' : 'off'),
  overridden,
  settingsPatch,
  notes,
  outsideHold: readConflict,
  notServed: (namespace, name) =>
    new CommandError(
      'Refused',
      `Advanced DaemonSet ${namespace}/${name} is not managed: its selector or its template is invalid; see "kubectl get ads ${name} -n ${namespace} -o yaml"`,
    ),
  notFound: ({ namespace, edgeset }, name, cause) =>
    // A NotFound without the object's name means that the API server does not have the kind.
    isKubeError(cause, 'NotFound') && cause.details?.name === undefined
      ? new CommandError(
          'NotInstalled',
          `the cluster has no CRD for Advanced DaemonSets (${group}/${storedVersion}): install it with "${edgeset(INSTALL_CRDS)}"`,
          cause,
        )
      : new CommandError(
          'NotFound',
          `there is no Advanced DaemonSet ${namespace}/${name}: run "kubectl get ads -A", and give its namespace with -n`,
          cause,
        ),
  pausePatch: (on) => ({ spec: { updateStrategy: { rollingUpdate: { paused: on } } } }),
  putTemplate: restoreTemplate,
});
