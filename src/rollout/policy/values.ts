import { isDeepStrictEqual } from 'node:util';
import { aliasOf, annotation, daemonRolloutLimits, keyInUse } from '../../words/index.ts';
import { parseSelector, type Selector, selectsNodes } from '../facts/selector.ts';
import { type IntOrPercent, parseIntOrPercent } from './int-or-percent.ts';

/** An invalid value, with what is wrong and how to fix it. */
export interface PolicyError {
  field: string;
  value: string;
  problem: string;
  remedy: string;
}

/** `<field> "<value>" <problem>: <remedy>`. */
export const formatPolicyError = (error: PolicyError): string =>
  `${error.field} "${error.value.slice(0, 100)}" ${error.problem}: ${error.remedy}.`;

export type Read<T> = { value: T } | { problem: string; remedy: string };

/** How images are pulled ahead of an update: not at all, for a limited time, or before any update. */
export type Predownload = 'off' | 'preferred' | 'required';

/**
 * Reads single annotations. Returns `fallback` if there is none, or if its value is invalid, which it adds to `errors`; so
 * are two names of one setting that disagree.
 */
export const createReader =
  (annotations: Readonly<Record<string, string>>, errors: PolicyError[]) =>
  <T, D>(setting: string, reader: (text: string) => Read<T>, fallback: D): T | D => {
    const field = keyInUse(annotations, setting);
    const text = annotations[field];
    if (text === undefined) return fallback;
    const result = reader(text);
    const second = aliasOf[setting] ?? setting;
    const other = annotations[second];
    if (second !== field && other !== undefined && !isDeepStrictEqual(reader(other), result)) {
      const problem = `differs from ${field} "${text.slice(0, 100)}", which is the same setting`;
      errors.push({ field: second, value: other, problem, remedy: 'remove one of the two' });
      return fallback;
    }
    if ('value' in result) return result.value;
    errors.push({ field, value: text, problem: result.problem, remedy: result.remedy });
    return fallback;
  };

export const readShare =
  (name: string) =>
  (text: string): Read<IntOrPercent> => {
    const value = parseIntOrPercent(text);
    if (!value)
      return { problem: 'is neither a whole number nor a percentage', remedy: `set ${name}, such as 3 or 10%` };
    if (value.kind === 'percent' && value.value > 100)
      return { problem: 'is more than all nodes', remedy: 'set a percentage from 0% to 100%' };
    return { value };
  };

export const readThreshold = (text: string): Read<IntOrPercent> => {
  const read = readShare('how many failed nodes stop the rollout')(text);
  if ('value' in read && read.value.value === 0)
    return { problem: 'would stop every rollout before it began', remedy: 'set at least 1 or 1%' };
  return read;
};

export const readFirstWave = (text: string): Read<IntOrPercent> => {
  const read = readShare('how many nodes try a new revision first')(text);
  if ('value' in read && read.value.value === 0)
    return { problem: 'lets no node try a new revision', remedy: 'set at least 1 or 1%, or 100% for no first wave' };
  return read;
};

const LONGEST_SECONDS = 365 * 24 * 3600;

export const readSeconds =
  (least: number) =>
  (text: string): Read<number> => {
    const seconds = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
    return seconds >= least && seconds <= LONGEST_SECONDS
      ? { value: seconds * 1000 }
      : {
          problem: 'is not a number of seconds in range',
          remedy: `set whole seconds from ${least} to ${LONGEST_SECONDS}`,
        };
  };

/** Reads one of a few words, in any case. */
const readWord =
  <T>(values: Readonly<Record<string, T>>, problem: string, remedy: string) =>
  (text: string): Read<T> => {
    const word = text.trim().toLowerCase();
    const value = Object.hasOwn(values, word) ? values[word] : undefined;
    return value === undefined ? { problem, remedy } : { value };
  };

export const readBoolean = readWord(
  { true: true, false: false },
  'is neither true nor false',
  'set it to "true" or "false"',
);

export const readOnFailure = readWord<'halt' | 'rollback'>(
  { halt: 'halt', rollback: 'rollback' },
  'is not a reaction to failure',
  'set it to halt or rollback',
);

/** What a new pod is of on a node that is kept from the newest revision: of that all the same, or of the one that was last complete. */
export type Recreate = 'newest' | 'held-revision';

export const readRecreate = readWord<Recreate>(
  { newest: 'newest', 'held-revision': 'held-revision' },
  'is not a revision for new pods',
  'set it to newest or held-revision',
);

export const readOnImageDrift = readWord<'warn' | 'halt'>(
  { warn: 'warn', halt: 'halt' },
  'is not a reaction to images that differ between nodes',
  'set it to warn or halt',
);

export const readStrategyName = readWord<'auto' | 'ota'>(
  { auto: 'auto', advancedrollingupdate: 'auto', ota: 'ota' },
  'is not a strategy',
  'set it to auto or ota, or remove the annotation',
);

export const readPredownload = readWord<Predownload>(
  { off: 'off', preferred: 'preferred', required: 'required' },
  'is not a way to pull images ahead',
  'set it to off, preferred or required',
);

export const readNodeSelector = (text: string): Read<Selector> => {
  const parsed = selectsNodes(parseSelector(text));
  return parsed.ok ? { value: parsed.selector } : parsed;
};

export const readTopologyKey = (text: string): Read<string> => {
  const key = text.trim();
  const parsed = parseSelector(key);
  return parsed.ok && /^[^\s=!,()]+$/.test(key)
    ? { value: key }
    : { problem: 'is not a label key', remedy: 'set the key of a node label, such as topology.kubernetes.io/zone' };
};

export const readParallelism = (text: string): Read<IntOrPercent> => {
  const read = readShare('how many nodes pull images at a time')(text);
  if ('value' in read && read.value.value === 0)
    return { problem: 'lets no node pull images', remedy: `set at least 1 or 1%, or ${annotation.predownload} to off` };
  return read;
};

export const readResume = (text: string): Read<{ hash: string; value: string }> => {
  const value = text.trim();
  const hash = value.split('/')[0] ?? '';
  return /^[a-z0-9]+$/.test(hash) && value.length <= daemonRolloutLimits.consent
    ? { value: { hash, value } }
    : { problem: 'does not name a revision', remedy: "set it to the target revision's controller-revision-hash" };
};

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Epoch ms of an RFC 3339 time with a zone; undefined for any other text, including dates that do not exist. */
const parseTime = (text: string): number | undefined => {
  const trimmed = text.trim();
  const parts = RFC3339.exec(trimmed);
  const at = parts ? Date.parse(trimmed.toUpperCase()) : Number.NaN;
  if (!parts || Number.isNaN(at)) return undefined;
  const [year = 0, month = 0, day = 0] = parts.slice(1, 4).map(Number);
  // Date.parse takes 30 February for 2 March.
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate() ? at : undefined;
};

export const readDeadline = (text: string): Read<number> => {
  const at = parseTime(text);
  return at === undefined
    ? { problem: 'is not a time', remedy: 'set a time with its zone as in RFC 3339, such as 2026-11-21T17:00:00Z' }
    : { value: at };
};

/** A RolloutPlan of the DaemonSet's namespace, or a ClusterRolloutPlan. */
export interface PlanName {
  name: string;
  cluster: boolean;
}

const PLAN_NAME = /^(cluster\/)?([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)$/;

export const readPlanName = (text: string): Read<PlanName> => {
  const [, cluster, name = ''] = PLAN_NAME.exec(text.trim()) ?? [];
  return name === '' || name.length > daemonRolloutLimits.name
    ? {
        problem: 'is not the name of a plan',
        remedy: 'set the name of a RolloutPlan, or cluster/NAME for a ClusterRolloutPlan',
      }
    : { value: { name, cluster: cluster !== undefined } };
};

/** A plan as the annotation names it. */
export const formatPlanName = ({ name, cluster }: PlanName): string => (cluster ? `cluster/${name}` : name);

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `1h`, `90m`, `1h30m`, `45s` or `0s`; undefined for any other text and for more than a year. */
export const parseDuration = (text: string): number | undefined => {
  const trimmed = text.trim();
  const parts = [...trimmed.matchAll(/(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== trimmed) return undefined;
  const total = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ''] ?? 0), 0);
  return total <= LONGEST_SECONDS * 1000 ? Math.round(total) : undefined;
};

export const readSpread = (text: string): Read<number> => {
  const ms = parseDuration(text);
  return ms === undefined
    ? { problem: 'is not a duration of at most a year', remedy: 'set a duration such as 1h, 90m or 1h30m; 0s for none' }
    : { value: ms };
};

export const readHash = (text: string): Read<string> => ({ value: text.trim() });
