import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { NotOptedInError, nativeKind, restoreTemplate } from '../../kinds/native/index.ts';
import { parsePolicy } from '../../rollout/index.ts';
import { alias, annotation } from '../../words/index.ts';
import { CommandError } from '../errors.ts';
import { type DaemonSetKind, defineKind, type Overrides } from './kind.ts';

const fields: DaemonSetKind['fields'] = {
  maxUnavailable: annotation.maxUnavailable,
  partition: annotation.partition,
  nodeSelector: annotation.nodeSelector,
  unpaused: annotation.paused,
};

const overridden = (daemonSet: DaemonSet, { unpaused, ...values }: Overrides): DaemonSet => {
  const annotations: Record<string, string> = { ...daemonSet.metadata?.annotations };
  for (const key of ['maxUnavailable', 'partition', 'nodeSelector'] as const) {
    const value = values[key];
    if (value !== undefined) annotations[fields[key]] = value;
  }
  // Two names of one setting would disagree.
  if (values.maxUnavailable !== undefined) delete annotations[alias.maxUnavailable];
  if (unpaused) annotations[fields.unpaused] = 'false';
  return { ...daemonSet, metadata: { ...daemonSet.metadata, annotations } };
};

/** Under the name of the budget that the DaemonSet uses, so that a tool that applies it again does not add another one. */
const settingsPatch: DaemonSetKind['settingsPatch'] = ({ metadata }, { maxUnavailable, partition }) => {
  const present = [annotation.maxUnavailable, alias.maxUnavailable].filter((key) => metadata?.annotations?.[key]);
  const annotations: Record<string, string> = {};
  if (maxUnavailable !== undefined)
    for (const key of present.length > 0 ? present : [annotation.maxUnavailable]) annotations[key] = maxUnavailable;
  if (partition !== undefined) annotations[fields.partition] = partition;
  return { metadata: { annotations } };
};

/** The annotation pauses the rollout unless it is `false`; an unreadable value makes the policy invalid. */
const pauseOf = ({ metadata }: DaemonSet): 'on' | 'off' | 'unreadable' => {
  const paused = (metadata?.annotations?.[annotation.paused] ?? 'false').trim().toLowerCase();
  if (paused === 'false') return 'off';
  return paused === 'true' ? 'on' : 'unreadable';
};

export const native: DaemonSetKind = defineKind(nativeKind, {
  label: 'daemonset.apps',
  title: 'DaemonSet',
  recordsDefaults: false,
  podController: 'DaemonSet controller',
  servesHint: 'serves this namespace',
  failureEvents: 'FailedDelete',
  fields,
  policyOf: ({ metadata, spec }) =>
    parsePolicy({
      name: metadata?.name,
      annotations: metadata?.annotations ?? {},
      updateStrategyType: spec?.updateStrategy?.type ?? 'RollingUpdate',
      minReadySeconds: spec?.minReadySeconds ?? 0,
    }),
  pauseOf,
  overridden,
  settingsPatch,
  notes: () => [],
  notServed: (namespace, name) => new NotOptedInError(namespace, name),
  notFound: ({ namespace }, name, cause) =>
    new CommandError(
      'NotFound',
      `there is no DaemonSet ${namespace}/${name}: run "kubectl get daemonsets -A", and give its namespace with -n`,
      cause,
    ),
  pausePatch: (on) => ({ metadata: { annotations: { [annotation.paused]: on ? 'true' : null } } }),
  putTemplate: restoreTemplate,
});
