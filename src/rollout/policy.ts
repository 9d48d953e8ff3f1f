import { createHash } from 'node:crypto';
import { daemonRolloutLimits } from './api.ts';
import { count, formatIntOrPercent, type IntOrPercent, parseIntOrPercent, percent } from './int-or-percent.ts';
import { parseDeadline, parseSpread } from './ota-terms.ts';
import { formatSelector, parseSelector, type Selector } from './selector.ts';

/** Annotation keys of the user interface. The `apps.openyurt.io` ones are kept from OpenYurt. */
export const annotation = {
  strategy: 'apps.openyurt.io/update-strategy',
  proposedStrategy: 'apps.openyurt.io/upgrade-strategy',
  maxUnavailable: 'apps.openyurt.io/max-unavailable',
  paused: 'edgeset.io/paused',
  partition: 'edgeset.io/partition',
  nodeSelector: 'edgeset.io/node-selector',
  settleSeconds: 'edgeset.io/settle-seconds',
  progressDeadlineSeconds: 'edgeset.io/progress-deadline-seconds',
  suspectWindowSeconds: 'edgeset.io/suspect-window-seconds',
  failureThreshold: 'edgeset.io/failure-threshold',
  onFailure: 'edgeset.io/on-failure',
  topologyKey: 'edgeset.io/topology-key',
  predownload: 'edgeset.io/predownload',
  predownloadTimeoutSeconds: 'apps.kruise.io/image-predownload-timeout-seconds',
  resume: 'edgeset.io/resume',
  rolledBackFrom: 'edgeset.io/rolled-back-from',
  otaDeadline: 'edgeset.io/ota-deadline',
  otaDeadlineSpread: 'edgeset.io/ota-deadline-spread',
} as const;

/** How a DaemonSet is to be rolled out: parsed once per change of its annotations, defaults filled in. */
export interface Policy {
  strategy: 'auto' | 'ota';
  /** Percent is of eligible online nodes, rounded up, at least 1 unless zero. Default 10%. Zero freezes. */
  maxUnavailable: IntOrPercent;
  /** Nodes to leave on the old revision; percent of eligible nodes, rounded down. Default 0. */
  partition: IntOrPercent;
  /** Only matching nodes are updated. Default: all. */
  nodeSelector: Selector | undefined;
  paused: boolean;
  /** How long a returned node must have been Ready before it is acted on. Default 10 s. */
  settleMs: number;
  /** How long a pod may take to become available before its node counts as failed. Default 10 min. */
  progressDeadlineMs: number;
  /** How long after our act a node that goes offline is a suspect. Default 5 min. */
  suspectWindowMs: number;
  /** An integer is taken as it is; a percent is of the nodes acted on, at least 3. Default 10%. */
  failureThreshold: IntOrPercent;
  onFailure: 'halt' | 'rollback';
  /** Node label whose values a wave is spread over. Default none. */
  topologyKey: string | undefined;
  /** How long one try to pull images ahead may take on a node. Default 5 min. */
  predownloadTimeoutMs: number;
  /** How long a pod must have been ready to be available: the DaemonSet's minReadySeconds. */
  minReadyMs: number;
  /** The user's consent to go on after a halt: the revision's hash label, and the whole value, so that a new one counts anew. */
  resume: { hash: string; value: string } | undefined;
  /** Hash label of the revision that a rollback of ours took away. */
  rolledBackFrom: string | undefined;
  /** With the strategy ota: when owners can no longer put an update off, epoch ms. Default: never. */
  otaDeadline: number | undefined;
  /** Devices act so long after the deadline at most, each at a time of its own. Default 1 h. */
  otaDeadlineSpreadMs: number;
}

/** A value that cannot be acted on, in a form that a person can mend. */
export interface PolicyError {
  field: string;
  value: string;
  problem: string;
  cure: string;
}

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

type Read<T> = { value: T } | { problem: string; cure: string };

const strategies: ReadonlyMap<string, Policy['strategy']> = new Map([
  ['auto', 'auto'],
  ['advancedrollingupdate', 'auto'],
  ['ota', 'ota'],
]);

const readStrategy = (text: string): Read<Policy['strategy']> => {
  const value = strategies.get(text.trim().toLowerCase());
  return value ? { value } : { problem: 'is not a strategy', cure: 'set it to auto or ota, or remove the annotation' };
};

const readShare =
  (name: string) =>
  (text: string): Read<IntOrPercent> => {
    const value = parseIntOrPercent(text);
    if (!value) return { problem: 'is neither a whole number nor a percentage', cure: `set ${name}, such as 3 or 10%` };
    if (value.kind === 'percent' && value.value > 100)
      return { problem: 'is more than all nodes', cure: 'set a percentage from 0% to 100%' };
    return { value };
  };

const readThreshold = (text: string): Read<IntOrPercent> => {
  const read = readShare('how many failed nodes stop the rollout')(text);
  if ('value' in read && read.value.value === 0)
    return { problem: 'would stop every rollout before it began', cure: 'set at least 1 or 1%' };
  return read;
};

const LONGEST_SECONDS = 365 * 24 * 3600;

const readSeconds =
  (least: number) =>
  (text: string): Read<number> => {
    const seconds = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
    return seconds >= least && seconds <= LONGEST_SECONDS
      ? { value: seconds * 1000 }
      : {
          problem: 'is not a number of seconds in range',
          cure: `set whole seconds from ${least} to ${LONGEST_SECONDS}`,
        };
  };

const readBoolean = (text: string): Read<boolean> => {
  const word = text.trim().toLowerCase();
  return word === 'true' || word === 'false'
    ? { value: word === 'true' }
    : { problem: 'is neither true nor false', cure: 'set it to "true" or "false"' };
};

const readOnFailure = (text: string): Read<Policy['onFailure']> => {
  const word = text.trim().toLowerCase();
  return word === 'halt' || word === 'rollback'
    ? { value: word }
    : { problem: 'is not a reaction to failure', cure: 'set it to halt or rollback' };
};

const readNodeSelector = (text: string): Read<Selector> => {
  const parsed = parseSelector(text);
  return parsed.ok ? { value: parsed.selector } : parsed;
};

const readTopologyKey = (text: string): Read<string> => {
  const key = text.trim();
  const parsed = parseSelector(key);
  return parsed.ok && /^[^\s=!,()]+$/.test(key)
    ? { value: key }
    : { problem: 'is not a label key', cure: 'set the key of a node label, such as topology.kubernetes.io/zone' };
};

// Pulling ahead belongs to a part that is not here: going on without it is what `preferred` allows and `required` forbids.
const readPredownload = (text: string): Read<'off' | 'preferred'> => {
  const word = text.trim().toLowerCase();
  if (word === 'off' || word === 'preferred') return { value: word };
  return word === 'required'
    ? {
        problem: 'asks for images to be pulled ahead, which this version cannot do',
        cure: 'set it to preferred or off',
      }
    : { problem: 'is not a way to pull images ahead', cure: 'set it to off or preferred' };
};

const readResume = (text: string): Read<NonNullable<Policy['resume']>> => {
  const value = text.trim();
  const hash = value.split('/')[0] ?? '';
  return /^[a-z0-9]+$/.test(hash) && value.length <= daemonRolloutLimits.consent
    ? { value: { hash, value } }
    : { problem: 'does not name a revision', cure: "set it to the target revision's controller-revision-hash" };
};

const readDeadline = (text: string): Read<number> => {
  const at = parseDeadline(text);
  return at === undefined
    ? { problem: 'is not a time', cure: 'set a time with its zone as in RFC 3339, such as 2026-11-21T17:00:00Z' }
    : { value: at };
};

const readSpread = (text: string): Read<number> => {
  const ms = parseSpread(text);
  return ms === undefined
    ? { problem: 'is not a duration of at most a year', cure: 'set a duration such as 1h, 90m or 1h30m; 0s for none' }
    : { value: ms };
};

const SPREAD_MS = 3_600_000;

const readHash = (text: string): Read<string> => ({ value: text.trim() });

/**
 * Reads a DaemonSet's rollout policy. Any value that cannot be understood makes the whole policy invalid: the last valid
 * one is never used in silence.
 */
export const parsePolicy = (source: PolicySource): ParsedPolicy => {
  const { annotations } = source;
  const chosen = annotations[annotation.strategy] ?? annotations[annotation.proposedStrategy];
  if (chosen === undefined) return { kind: 'off' };
  const errors: PolicyError[] = [];
  const warnings: PolicyError[] = [];

  const read = <T, D>(field: string, reader: (text: string) => Read<T>, fallback: D): T | D => {
    const text = annotations[field];
    if (text === undefined) return fallback;
    const result = reader(text);
    if ('value' in result) return result.value;
    errors.push({ field, value: text, problem: result.problem, cure: result.cure });
    return fallback;
  };

  const strategyField =
    annotations[annotation.strategy] === undefined ? annotation.proposedStrategy : annotation.strategy;
  const strategy = read(strategyField, readStrategy, 'auto');
  const proposed = annotations[annotation.proposedStrategy];
  if (strategyField === annotation.strategy && proposed !== undefined) {
    const other = readStrategy(proposed);
    if (!('value' in other) || other.value !== strategy)
      warnings.push({
        field: annotation.proposedStrategy,
        value: proposed,
        problem: `differs from ${annotation.strategy}, which wins`,
        cure: `remove ${annotation.proposedStrategy}`,
      });
  }
  if (source.updateStrategyType !== 'OnDelete')
    errors.push({
      field: 'spec.updateStrategy.type',
      value: source.updateStrategyType,
      problem: 'leaves the update to the native controller',
      cure: `set it to OnDelete, or remove the annotation ${strategyField}`,
    });

  read(annotation.predownload, readPredownload, undefined);
  const policy: Policy = {
    strategy,
    maxUnavailable: read(annotation.maxUnavailable, readShare('how many nodes may be down'), percent(10)),
    partition: read(annotation.partition, readShare('how many nodes to leave on the old revision'), count(0)),
    nodeSelector: read(annotation.nodeSelector, readNodeSelector, undefined),
    paused: read(annotation.paused, readBoolean, false),
    settleMs: read(annotation.settleSeconds, readSeconds(0), 10_000),
    progressDeadlineMs: read(annotation.progressDeadlineSeconds, readSeconds(1), 600_000),
    suspectWindowMs: read(annotation.suspectWindowSeconds, readSeconds(0), 300_000),
    failureThreshold: read(annotation.failureThreshold, readThreshold, percent(10)),
    onFailure: read(annotation.onFailure, readOnFailure, 'halt'),
    topologyKey: read(annotation.topologyKey, readTopologyKey, undefined),
    predownloadTimeoutMs: read(annotation.predownloadTimeoutSeconds, readSeconds(1), 300_000),
    minReadyMs: source.minReadySeconds * 1000,
    resume: read(annotation.resume, readResume, undefined),
    rolledBackFrom: read(annotation.rolledBackFrom, readHash, undefined),
    otaDeadline: read(annotation.otaDeadline, readDeadline, undefined),
    otaDeadlineSpreadMs: read(annotation.otaDeadlineSpread, readSpread, SPREAD_MS),
  };
  if (errors.length > 0) return { kind: 'invalid', policy, errors, warnings };
  return { kind: 'on', policy, hash: hashPolicy(policy), warnings };
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

/** Reads of a DaemonSet's annotations what matters on a device: `parsePolicy` less what only the manager needs. */
export const readOtaTerms = (annotations: Readonly<Record<string, string>> | undefined = {}): OtaTerms => {
  const parsed = parsePolicy({ annotations, updateStrategyType: 'OnDelete', minReadySeconds: 0 });
  const strategy = annotations[annotation.strategy] ?? annotations[annotation.proposedStrategy];
  const read = strategy === undefined ? undefined : readStrategy(strategy);
  const ota = read !== undefined && 'value' in read && read.value === 'ota';
  if (!ota || parsed.kind === 'off') return { ota, deadline: undefined, spreadMs: SPREAD_MS, errors: [] };
  const terms: readonly string[] = [annotation.otaDeadline, annotation.otaDeadlineSpread];
  const errors = parsed.kind === 'invalid' ? parsed.errors.filter(({ field }) => terms.includes(field)) : [];
  const deadline = errors.length === 0 ? parsed.policy.otaDeadline : undefined;
  return { ota, deadline, spreadMs: parsed.policy.otaDeadlineSpreadMs, errors };
};

/** Ten hex digits that change when, and only when, the effective policy does. */
const hashPolicy = (policy: Policy): string => {
  const canonical = {
    ...policy,
    maxUnavailable: formatIntOrPercent(policy.maxUnavailable),
    partition: formatIntOrPercent(policy.partition),
    failureThreshold: formatIntOrPercent(policy.failureThreshold),
    nodeSelector: policy.nodeSelector && formatSelector(policy.nodeSelector),
  };
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex').slice(0, 10);
};

/** `<field> "<value>" <problem>: <cure>`. */
export const formatPolicyError = (error: PolicyError): string =>
  `${error.field} "${error.value.slice(0, 100)}" ${error.problem}: ${error.cure}.`;
