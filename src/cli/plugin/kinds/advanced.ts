import {
  type AdvancedDaemonSet,
  type AdvancedView,
  advancedDaemonSetApi,
  createAdvancedKind,
  parseAdvancedPolicy,
  readConflict,
  restoreTemplate,
  rollingField,
} from '../../../advanced/index.ts';
import type { RolloutReading } from '../../../controller/index.ts';
import { isKubeError } from '../../../kube/index.ts';
import { formatIntOrPercent, livePod, parseSelector } from '../../../rollout/index.ts';
import { OptionError } from '../../../runtime/index.ts';
import { CommandError } from '../errors.ts';
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
  if (!parsed.ok) throw new OptionError('--node-selector', `"${text}" ${parsed.problem}: ${parsed.cure}`);
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
    // One of the two bounds is in force: who names this one gives the other up.
    ...(maxUnavailable !== undefined && { maxUnavailable, maxSurge: 0 }),
    ...(partition !== undefined && { partition }),
    ...(nodeSelector !== undefined && { selector: selectorOf(nodeSelector) }),
    ...(unpaused && { paused: false }),
  };
  return { ...daemonSet, spec: { ...spec, updateStrategy: { ...spec.updateStrategy, rollingUpdate } } };
};

/** What a pod in preparation waits for, in words. */
const handlersOf = ({ preDelete }: AdvancedView): string => {
  const labels = Object.entries(preDelete?.labelsHandler ?? {}).map(([key, value]) => `label ${key}=${value}`);
  const finalizers = (preDelete?.finalizersHandler ?? []).map((name) => `finalizer ${name}`);
  return [...labels, ...finalizers].join(', ');
};

const notes = ({ view, ledger }: RolloutReading & { view: AdvancedView }): string[] => {
  const { policy, tally, state } = ledger;
  const told: string[] = [];
  if (view.deleted === 'with-pods')
    told.push('It is being deleted: its pods go first, each through its preDelete hook.');
  const preparing = tally.causes.get('preparing') ?? 0;
  if (preparing > 0 && view.preDelete)
    told.push(
      `spec.lifecycle.preDelete: a pod goes once its ${handlersOf(view)} has been removed by whoever it is for.`,
    );
  const ungated = policy.inPlace
    ? Array.from(ledger.records(), (record) => livePod(record)?.facts).filter(
        (pod) => pod && !pod.hasInPlaceGate && pod.revision !== state.target?.hash,
      ).length
    : 0;
  if (ungated > 0)
    told.push(
      `${ungated} of the pods were made without the readiness gate InPlaceUpdateReady: they are replaced once, and changed in place from then on.`,
    );
  if (view.progressive && policy.partition.value > 0 && (tally.causes.get('no-pod') ?? 0) > 0)
    told.push(
      `Creation is progressive: while ${fields.partition} is ${formatIntOrPercent(policy.partition)}, not every node gets a pod.`,
    );
  return told;
};

/** DaemonSets of apps.kruise.io. */
export const advanced: DaemonSetKind = defineKind(createAdvancedKind(), {
  label: `daemonset.${group}`,
  short: 'ads',
  title: 'Advanced DaemonSet',
  recordsDefaults: true,
  podController: 'manager',
  noManagerHint: 'see whether edgeset-manager runs with "advanced" among its --controllers, and serves this namespace',
  failureEvents: 'FailedDelete, FailedUpdatePodInPlace and FailedCreate',
  fields,
  policyOf: ({ spec, metadata }) => parseAdvancedPolicy(spec, metadata.annotations ?? {}),
  pauseOf: ({ spec }) => (spec.updateStrategy?.rollingUpdate?.paused ? 'on' : 'off'),
  overridden,
  notes,
  obstacle: readConflict,
  notServed: (namespace, name) =>
    new CommandError(
      'Refused',
      `Advanced DaemonSet ${namespace}/${name} is not managed: its selector or its template cannot be read; see "kubectl get ads ${name} -n ${namespace} -o yaml"`,
    ),
  notFound: (namespace, name, cause) =>
    // What is refused without a name was never looked for: the kind itself is not served.
    isKubeError(cause, 'NotFound') && cause.details?.name === undefined
      ? new CommandError(
          'NotInstalled',
          `the cluster does not know Advanced DaemonSets (${group}/${storedVersion}): install their definition with "kubectl edgeset crds | kubectl apply -f -"`,
          cause,
        )
      : new CommandError(
          'NotFound',
          `there is no Advanced DaemonSet ${namespace}/${name}: see "kubectl get ads -A", and give its namespace with -n`,
          cause,
        ),
  pausePatch: (on) => ({ spec: { updateStrategy: { rollingUpdate: { paused: on } } } }),
  putTemplate: restoreTemplate,
});
