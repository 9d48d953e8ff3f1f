import { hash } from 'node:crypto';
import { ADVANCED_ROLLOUT_SUFFIX, annotation, keyInUse, strategyKeys } from '../../words/index.ts';
import { formatSelector, type Selector } from '../facts/selector.ts';
import { count, formatIntOrPercent, type IntOrPercent, percent } from './int-or-percent.ts';
import type { Plan } from './plan-terms.ts';
import { misspelledKeys } from './spelling.ts';
import { DEFAULT_SPREAD_MS, readTerms, type Terms } from './terms.ts';
import {
  createReader,
  type PolicyError,
  type Recreate,
  readBoolean,
  readNodeSelector,
  readShare,
  readStrategyName,
} from './values.ts';

/** How to roll out a DaemonSet: parsed once for each change of the DaemonSet, with defaults filled in. */
export interface Policy extends Terms {
  /** Who updates the nodes: the manager, their owners, or a user who deletes pods by hand. */
  strategy: 'auto' | 'ota' | 'manual';
  /** With the strategy ota: owners approve and the manager replaces their pods; otherwise owners replace them. */
  byApproval: boolean;
  /** Rounded up, at least 1 unless zero. Default 10%. Zero freezes. */
  maxUnavailable: IntOrPercent;
  /** How many nodes may run a new pod beside the old one, rounded up; zero: the old pod is deleted first. */
  maxSurge: IntOrPercent;
  /** What a percentage in the budget refers to: eligible nodes that are online and settled, or all eligible nodes. */
  percentOf: 'online' | 'desired';
  /** Pods are updated in place where the revisions allow it. */
  inPlace: boolean;
  /** How many nodes to keep on the old revision; a percentage is of eligible nodes, rounded down. Default 0. */
  partition: IntOrPercent;
  /** Only matching nodes are updated. Default: all. */
  nodeSelector: Selector | undefined;
  paused: boolean;
  /**
   * The revision of pods that are created on nodes that the partition or the node selector keeps from the target. Undefined: another
   * controller creates the pods.
   */
  recreate: Recreate | undefined;
  /** The plan that is named; undefined without one, and while it is missing or invalid. */
  plan: Plan | undefined;
  /** How long a pod must have been ready to be available: the DaemonSet's minReadySeconds. */
  minReadyMs: number;
  /** Names of the settings, for messages. */
  words: PolicyWords;
}

/** New pods are created beside the old ones. */
export const surges = ({ maxSurge }: Pick<Policy, 'maxSurge'>): boolean => maxSurge.value > 0;

/** The manager replaces pods, within the budget. */
export const managerReplacesPods = ({ strategy, byApproval }: Pick<Policy, 'strategy' | 'byApproval'>): boolean =>
  strategy === 'auto' || (strategy === 'ota' && byApproval);

/** Owners replace the pods of their devices themselves; the manager only offers them the target. */
export const ownersReplacePods = ({ strategy, byApproval }: Pick<Policy, 'strategy' | 'byApproval'>): boolean =>
  strategy === 'ota' && !byApproval;

/** What the settings are called in messages, which differs between kinds of DaemonSet. */
export interface PolicyWords {
  /** The field that limits how many nodes may be down, or may surge. */
  maxUnavailable: string;
  partition: string;
  nodeSelector: string;
  /** A sentence: how to have the manager update the nodes instead of their owners or the user. */
  automate: string;
  /** The controller that records templates and creates pods, and the program that it is part of. */
  podController: string;
  podControllerProgram: string;
}

/** For native DaemonSets, and for every kind where annotations choose the strategy. */
export const annotationWords: PolicyWords = {
  maxUnavailable: annotation.maxUnavailable,
  partition: annotation.partition,
  nodeSelector: annotation.nodeSelector,
  automate: `To have the manager update the nodes, set ${annotation.strategy} to auto.`,
  podController: 'DaemonSet controller',
  podControllerProgram: 'kube-controller-manager',
};

export type ParsedPolicy =
  | { kind: 'off' }
  /** `policy` has the defaults in place of invalid values: it is for display only. */
  | { kind: 'invalid'; policy: Policy; errors: PolicyError[]; warnings: PolicyError[] }
  | { kind: 'on'; policy: Policy; hash: string; warnings: PolicyError[] };

/** The DaemonSet can have no DaemonRollout, which would be named after it: only its own status says why it is held. */
export const hasUnusableName = (policy: ParsedPolicy): policy is Extract<ParsedPolicy, { kind: 'invalid' }> =>
  policy.kind === 'invalid' && policy.errors.some(({ field }) => field === 'metadata.name');

/** What `parsePolicy` reads of a DaemonSet. */
export interface PolicySource {
  name?: string | undefined;
  annotations: Readonly<Record<string, string>>;
  updateStrategyType: string;
  minReadySeconds: number;
}

/** A native DaemonSet opts in by an annotation that chooses its strategy. */
export const optsIn = (annotations: Readonly<Record<string, string>>): boolean =>
  strategyKeys.some((key) => annotations[key] !== undefined);

/** The strategy that the annotations choose, and which of them does; undefined without one. */
export const readStrategy = (
  annotations: Readonly<Record<string, string>>,
  errors: PolicyError[],
  warnings: PolicyError[],
): { field: string; value: 'auto' | 'ota' } | undefined => {
  if (!optsIn(annotations)) return undefined;
  const proposed = annotations[annotation.proposedStrategy];
  const inUse = keyInUse(annotations, annotation.strategy);
  const field = annotations[inUse] === undefined ? annotation.proposedStrategy : inUse;
  const setting = field === inUse ? annotation.strategy : field;
  const value = createReader(annotations, errors)(setting, readStrategyName, 'auto');
  if (field === inUse && proposed !== undefined) {
    const other = readStrategyName(proposed);
    if (!('value' in other) || other.value !== value)
      warnings.push({
        field: annotation.proposedStrategy,
        value: proposed,
        problem: `differs from ${field}, which wins`,
        remedy: `remove ${annotation.proposedStrategy}`,
      });
  }
  return { field, value };
};

/** One error makes the whole policy invalid. */
export const validatedPolicy = (
  policy: Policy,
  errors: PolicyError[],
  warnings: PolicyError[],
): Exclude<ParsedPolicy, { kind: 'off' }> =>
  errors.length > 0
    ? { kind: 'invalid', policy, errors, warnings }
    : { kind: 'on', policy, hash: hashPolicy(policy), warnings };

/** The policy, held by what is wrong beside it. */
export const heldBy = (
  parsed: Exclude<ParsedPolicy, { kind: 'off' }>,
  ...found: readonly (PolicyError | undefined)[]
): Exclude<ParsedPolicy, { kind: 'off' }> => {
  const errors = found.filter((error) => error !== undefined);
  if (errors.length === 0) return parsed;
  const { policy, warnings } = parsed;
  return {
    kind: 'invalid',
    policy,
    warnings,
    errors: [...(parsed.kind === 'invalid' ? parsed.errors : []), ...errors],
  };
};

/**
 * Reads a native DaemonSet's rollout policy. Any invalid value makes the whole policy invalid: the last valid policy is
 * never used silently.
 */
export const parsePolicy = (source: PolicySource): ParsedPolicy => {
  const { annotations } = source;
  const errors: PolicyError[] = [];
  const warnings: PolicyError[] = [];
  const chosen = readStrategy(annotations, errors, warnings);
  if (!chosen) return { kind: 'off' };
  errors.push(...misspelledKeys(annotations));
  if (source.name?.endsWith(ADVANCED_ROLLOUT_SUFFIX))
    errors.push({
      field: 'metadata.name',
      value: source.name,
      problem: `ends in ${ADVANCED_ROLLOUT_SUFFIX}, so that its DaemonRollout would have the name of that of an Advanced DaemonSet`,
      remedy: 'delete the DaemonSet with --cascade=orphan, and create it again under another name',
    });
  if (source.updateStrategyType !== 'OnDelete')
    errors.push({
      field: 'spec.updateStrategy.type',
      value: source.updateStrategyType,
      problem: 'leaves the update to the native controller',
      remedy: `set it to OnDelete, or remove the annotation ${chosen.field}`,
    });
  const recreate = annotations[annotation.recreate];
  if (recreate !== undefined)
    warnings.push({
      field: annotation.recreate,
      value: recreate,
      problem: 'has no effect on a native DaemonSet, whose pods Kubernetes creates at the newest revision',
      remedy: 'remove it, or use an Advanced DaemonSet',
    });
  const read = createReader(annotations, errors);
  const policy: Policy = {
    strategy: chosen.value,
    byApproval: false,
    maxUnavailable: read(annotation.maxUnavailable, readShare('how many nodes may be down'), percent(10)),
    maxSurge: count(0),
    percentOf: 'online',
    inPlace: false,
    partition: read(annotation.partition, readShare('how many nodes to leave on the old revision'), count(0)),
    nodeSelector: read(annotation.nodeSelector, readNodeSelector, undefined),
    paused: read(annotation.paused, readBoolean, false),
    recreate: undefined,
    plan: undefined,
    minReadyMs: source.minReadySeconds * 1000,
    ...readTerms(annotations, errors),
    words: {
      ...annotationWords,
      maxUnavailable: keyInUse(annotations, annotation.maxUnavailable),
    },
  };
  return validatedPolicy(policy, errors, warnings);
};

/** What an agent needs to know about a DaemonSet's policy. */
export interface OtaTerms {
  /** The strategy is ota: owners decide. */
  ota: boolean;
  /** When owners can no longer postpone the update, epoch ms; undefined for never, or if it is invalid. */
  deadline: number | undefined;
  /** Each device updates at most this long after the deadline. */
  spreadMs: number;
  /** Invalid terms, as `parsePolicy` reports them. Then there is no deadline. */
  errors: PolicyError[];
}

/** Reads the annotations that matter on a device: the strategy and the owners' terms. */
export const readOtaTerms = (annotations: Readonly<Record<string, string>> | undefined = {}): OtaTerms => {
  const ota = readStrategy(annotations, [], [])?.value === 'ota';
  if (!ota) return { ota, deadline: undefined, spreadMs: DEFAULT_SPREAD_MS, errors: [] };
  const found: PolicyError[] = [];
  const { otaDeadline, otaDeadlineSpreadMs } = readTerms(annotations, found);
  const terms: readonly string[] = [annotation.otaDeadline, annotation.otaDeadlineSpread];
  const errors = found.filter(({ field }) => terms.includes(field));
  return { ota, deadline: errors.length === 0 ? otaDeadline : undefined, spreadMs: otaDeadlineSpreadMs, errors };
};

/** Ten hex digits that change if, and only if, the effective policy changes. */
const hashPolicy = (policy: Policy): string => {
  const canonical = {
    ...policy,
    maxUnavailable: formatIntOrPercent(policy.maxUnavailable),
    maxSurge: formatIntOrPercent(policy.maxSurge),
    partition: formatIntOrPercent(policy.partition),
    failureThreshold: formatIntOrPercent(policy.failureThreshold),
    firstWave: policy.firstWave && formatIntOrPercent(policy.firstWave),
    predownloadParallelism: policy.predownloadParallelism && formatIntOrPercent(policy.predownloadParallelism),
    predownloadMinUpdated: policy.predownloadMinUpdated && formatIntOrPercent(policy.predownloadMinUpdated),
    nodeSelector: policy.nodeSelector && formatSelector(policy.nodeSelector),
    plan: policy.plan?.spec,
    words: undefined,
  };
  return hash('sha256', JSON.stringify(canonical), 'hex').slice(0, 10);
};
