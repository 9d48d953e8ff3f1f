import { daemonRolloutLimits } from '../api/types.ts';
import { parseSelector, type Selector } from '../selectors/selector.ts';
import { annotation } from './annotations.ts';
import { type IntOrPercent, parseIntOrPercent } from './int-or-percent.ts';
import { parseDeadline, parseSpread } from './ota-terms.ts';

/** A value that cannot be acted on, in a form that a person can mend. */
export interface PolicyError {
  field: string;
  value: string;
  problem: string;
  cure: string;
}

/** `<field> "<value>" <problem>: <cure>`. */
export const formatPolicyError = (error: PolicyError): string =>
  `${error.field} "${error.value.slice(0, 100)}" ${error.problem}: ${error.cure}.`;

export type Read<T> = { value: T } | { problem: string; cure: string };

/** How images are pulled ahead of an act: not at all, as far as somebody can, or before any act. */
export type Predownload = 'off' | 'preferred' | 'required';

/** Reads single annotations: `fallback` where there is none, and where its value cannot be read, which is noted. */
export const createReader =
  (annotations: Readonly<Record<string, string>>, errors: PolicyError[]) =>
  <T, D>(field: string, reader: (text: string) => Read<T>, fallback: D): T | D => {
    const text = annotations[field];
    if (text === undefined) return fallback;
    const result = reader(text);
    if ('value' in result) return result.value;
    errors.push({ field, value: text, problem: result.problem, cure: result.cure });
    return fallback;
  };
export type Reader = ReturnType<typeof createReader>;

export const readShare =
  (name: string) =>
  (text: string): Read<IntOrPercent> => {
    const value = parseIntOrPercent(text);
    if (!value) return { problem: 'is neither a whole number nor a percentage', cure: `set ${name}, such as 3 or 10%` };
    if (value.kind === 'percent' && value.value > 100)
      return { problem: 'is more than all nodes', cure: 'set a percentage from 0% to 100%' };
    return { value };
  };

export const readThreshold = (text: string): Read<IntOrPercent> => {
  const read = readShare('how many failed nodes stop the rollout')(text);
  if ('value' in read && read.value.value === 0)
    return { problem: 'would stop every rollout before it began', cure: 'set at least 1 or 1%' };
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
          cure: `set whole seconds from ${least} to ${LONGEST_SECONDS}`,
        };
  };

export const readBoolean = (text: string): Read<boolean> => {
  const word = text.trim().toLowerCase();
  return word === 'true' || word === 'false'
    ? { value: word === 'true' }
    : { problem: 'is neither true nor false', cure: 'set it to "true" or "false"' };
};

export const readOnFailure = (text: string): Read<'halt' | 'rollback'> => {
  const word = text.trim().toLowerCase();
  return word === 'halt' || word === 'rollback'
    ? { value: word }
    : { problem: 'is not a reaction to failure', cure: 'set it to halt or rollback' };
};

export const readNodeSelector = (text: string): Read<Selector> => {
  const parsed = parseSelector(text);
  return parsed.ok ? { value: parsed.selector } : parsed;
};

export const readTopologyKey = (text: string): Read<string> => {
  const key = text.trim();
  const parsed = parseSelector(key);
  return parsed.ok && /^[^\s=!,()]+$/.test(key)
    ? { value: key }
    : { problem: 'is not a label key', cure: 'set the key of a node label, such as topology.kubernetes.io/zone' };
};

export const readParallelism = (text: string): Read<IntOrPercent> => {
  const read = readShare('how many nodes pull images at a time')(text);
  if ('value' in read && read.value.value === 0)
    return { problem: 'lets no node pull images', cure: `set at least 1 or 1%, or ${annotation.predownload} to off` };
  return read;
};

export const readPredownload = (text: string): Read<Predownload> => {
  const word = text.trim().toLowerCase();
  return word === 'off' || word === 'preferred' || word === 'required'
    ? { value: word }
    : { problem: 'is not a way to pull images ahead', cure: 'set it to off, preferred or required' };
};

export const readResume = (text: string): Read<{ hash: string; value: string }> => {
  const value = text.trim();
  const hash = value.split('/')[0] ?? '';
  return /^[a-z0-9]+$/.test(hash) && value.length <= daemonRolloutLimits.consent
    ? { value: { hash, value } }
    : { problem: 'does not name a revision', cure: "set it to the target revision's controller-revision-hash" };
};

export const readDeadline = (text: string): Read<number> => {
  const at = parseDeadline(text);
  return at === undefined
    ? { problem: 'is not a time', cure: 'set a time with its zone as in RFC 3339, such as 2026-11-21T17:00:00Z' }
    : { value: at };
};

export const readSpread = (text: string): Read<number> => {
  const ms = parseSpread(text);
  return ms === undefined
    ? { problem: 'is not a duration of at most a year', cure: 'set a duration such as 1h, 90m or 1h30m; 0s for none' }
    : { value: ms };
};

export const readHash = (text: string): Read<string> => ({ value: text.trim() });
