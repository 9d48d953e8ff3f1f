import { hash } from 'node:crypto';
import { formatSelector, type Selector } from '../selectors/selector.ts';
import { annotation } from './annotations.ts';
import { count, formatIntOrPercent, type IntOrPercent, percent } from './int-or-percent.ts';
import { DEFAULT_SPREAD_MS, readTerms, type Terms } from './terms.ts';
import { createReader, type PolicyError, type Read, readBoolean, readNodeSelector, readShare } from './values.ts';

export { annotation } from './annotations.ts';
export { formatPolicyError, type PolicyError } from './values.ts';

/** How a DaemonSet is to be rolled out: parsed once per change of the DaemonSet, defaults filled in. */
export interface Policy extends Terms {
  /** Who updates the nodes: we, their owners, or a user who deletes pods by hand. */
  strategy: 'auto' | 'ota' | 'manual';
  /** With the strategy ota: owners agree, and their pods are replaced from here; else owners replace them. */
  byApproval: boolean;
  /** Rounded up, at least 1 unless zero. Default 10%. Zero freezes. */
  maxUnavailable: IntOrPercent;
  /** Nodes that may have a new pod beside the old one, rounded up; zero: the old pod goes first. */
  maxSurge: IntOrPercent;
  /** What a percent of nodes that may be down, or surge, is of: eligible nodes that are online and settled, or all eligible ones. */
  percentOf: 'online' | 'desired';
  /** Pods are changed in place where the revisions allow it. */
  inPlace: boolean;
  /** Nodes to leave on the old revision; percent of eligible nodes, rounded down. Default 0. */
  partition: IntOrPercent;
  /** Only matching nodes are updated. Default: all. */
  nodeSelector: Selector | undefined;
  paused: boolean;
  /** How long a pod must have been ready to be available: the DaemonSet's minReadySeconds. */
  minReadyMs: number;
  /** How people are told to change it. */
  words: PolicyWords;
}

/** New pods come beside the old ones. */
export const surges = ({ maxSurge }: Policy): boolean => maxSurge.value > 0;

/** Pods are replaced from here, within the budget. */
export const managerReplacesPods = ({ strategy, byApproval }: Pick<Policy, 'strategy' | 'byApproval'>): boolean =>
  strategy === 'auto' || (strategy === 'ota' && byApproval);

/** Where the user sets what, for sentences: kinds of DaemonSet differ in it. */
export interface PolicyWords {
  /** The field in force: of how many nodes may be down, or may surge. */
  maxUnavailable: string;
  partition: string;
  nodeSelector: string;
  /** A sentence. */
  unpause: string;
  /** A sentence: how to take the update of the nodes from their owners, or from the user's own hands. */
  automate: string;
  /** Who records templates and makes pods, and the program that it is part of. */
  podController: string;
  podControllerProgram: string;
}

/** Of native DaemonSets, and of all for the strategies that are chosen by annotation. */
export const annotationWords: PolicyWords = {
  maxUnavailable: annotation.maxUnavailable,
  partition: annotation.partition,
  nodeSelector: annotation.nodeSelector,
  unpause: `Remove the annotation ${annotation.paused}.`,
  automate: `To update the nodes from here, set ${annotation.strategy} to auto.`,
  podController: 'DaemonSet controller',
  podControllerProgram: 'kube-controller-manager',
};

export type ParsedPolicy =
  | { kind: 'off' }
  /** `policy` has the defaults where values cannot be read: for display alone, nothing is acted on. */
  | { kind: 'invalid'; policy: Policy; errors: PolicyError[]; warnings: PolicyError[] }
  | { kind: 'on'; policy: Policy; hash: string; warnings: PolicyError[] };

/** What `parsePolicy` reads of a DaemonSet. */
export interface PolicySource {
  annotations: Readonly<Record<string, string>>;
  updateStrategyType: string;
  minReadySeconds: number;
}

const strategies: ReadonlyMap<string, 'auto' | 'ota'> = new Map([
  ['auto', 'auto'],
  ['advancedrollingupdate', 'auto'],
  ['ota', 'ota'],
]);

const readStrategyName = (text: string): Read<'auto' | 'ota'> => {
  const value = strategies.get(text.trim().toLowerCase());
  return value ? { value } : { problem: 'is not a strategy', cure: 'set it to auto or ota, or remove the annotation' };
};

/** What the annotations say of the strategy, and in which of them; undefined when none of them is there. */
export const readStrategy = (
  annotations: Readonly<Record<string, string>>,
  errors: PolicyError[],
  warnings: PolicyError[],
): { field: string; value: 'auto' | 'ota' } | undefined => {
  const proposed = annotations[annotation.proposedStrategy];
  const field = annotations[annotation.strategy] === undefined ? annotation.proposedStrategy : annotation.strategy;
  if (annotations[field] === undefined) return undefined;
  const value = createReader(annotations, errors)(field, readStrategyName, 'auto');
  if (field === annotation.strategy && proposed !== undefined) {
    const other = readStrategyName(proposed);
    if (!('value' in other) || other.value !== value)
      warnings.push({
        field: annotation.proposedStrategy,
        value: proposed,
        problem: `differs from ${annotation.strategy}, which wins`,
        cure: `remove ${annotation.proposedStrategy}`,
      });
  }
  return { field, value };
};

/** A policy as it was read, with what cannot be acted on: one error makes it invalid as a whole. */
export const validatedPolicy = (
  policy: Policy,
  errors: PolicyError[],
  warnings: PolicyError[],
): Exclude<ParsedPolicy, { kind: 'off' }> =>
  errors.length > 0
    ? { kind: 'invalid', policy, errors, warnings }
    : { kind: 'on', policy, hash: hashPolicy(policy), warnings };

/**
 * Reads a native DaemonSet's rollout policy. Any value that cannot be understood makes the whole policy invalid: the
 * last valid one is never used in silence.
 */
export const parsePolicy = (source: PolicySource): ParsedPolicy => {
  const { annotations } = source;
  const errors: PolicyError[] = [];
  const warnings: PolicyError[] = [];
  const chosen = readStrategy(annotations, errors, warnings);
  if (!chosen) return { kind: 'off' };
  if (source.updateStrategyType !== 'OnDelete')
    errors.push({
      field: 'spec.updateStrategy.type',
      value: source.updateStrategyType,
      problem: 'leaves the update to the native controller',
      cure: `set it to OnDelete, or remove the annotation ${chosen.field}`,
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
    minReadyMs: source.minReadySeconds * 1000,
    ...readTerms(annotations, errors),
    words: annotationWords,
  };
  return validatedPolicy(policy, errors, warnings);
};

/** What an agent has to know of a DaemonSet's policy. */
export interface OtaTerms {
  /** Its owners decide: the strategy is ota. */
  ota: boolean;
  /** When they can no longer put the update off, epoch ms; undefined for never, and for one that cannot be read. */
  deadline: number | undefined;
  /** Each device acts within so long after the deadline. */
  spreadMs: number;
  /** What cannot be read, as `parsePolicy` tells it. Nothing is due by a deadline whose terms are in doubt. */
  errors: PolicyError[];
}

/** Reads of a DaemonSet's annotations what matters on a device: the strategy and the owners' terms. */
export const readOtaTerms = (annotations: Readonly<Record<string, string>> | undefined = {}): OtaTerms => {
  const ota = readStrategy(annotations, [], [])?.value === 'ota';
  if (!ota) return { ota, deadline: undefined, spreadMs: DEFAULT_SPREAD_MS, errors: [] };
  const found: PolicyError[] = [];
  const { otaDeadline, otaDeadlineSpreadMs } = readTerms(annotations, found);
  const terms: readonly string[] = [annotation.otaDeadline, annotation.otaDeadlineSpread];
  const errors = found.filter(({ field }) => terms.includes(field));
  return { ota, deadline: errors.length === 0 ? otaDeadline : undefined, spreadMs: otaDeadlineSpreadMs, errors };
};

/** Ten hex digits that change when, and only when, the effective policy does. */
const hashPolicy = (policy: Policy): string => {
  const canonical = {
    ...policy,
    maxUnavailable: formatIntOrPercent(policy.maxUnavailable),
    maxSurge: formatIntOrPercent(policy.maxSurge),
    partition: formatIntOrPercent(policy.partition),
    failureThreshold: formatIntOrPercent(policy.failureThreshold),
    predownloadParallelism: policy.predownloadParallelism && formatIntOrPercent(policy.predownloadParallelism),
    predownloadMinUpdated: policy.predownloadMinUpdated && formatIntOrPercent(policy.predownloadMinUpdated),
    nodeSelector: policy.nodeSelector && formatSelector(policy.nodeSelector),
    words: undefined,
  };
  return hash('sha256', JSON.stringify(canonical), 'hex').slice(0, 10);
};
