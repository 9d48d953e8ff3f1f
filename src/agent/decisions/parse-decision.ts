import { type Choice, LOCAL_TIME, type Weekday, type When, weekdays } from '../types.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The request is invalid: the message says which field, and how to fix it. */
export class InvalidDecision extends Error {
  constructor(field: string, remedy: string) {
    super(`${field.slice(0, 80)} ${remedy}`);
    this.name = 'InvalidDecision';
  }
}

const LONGEST_REVISION = 253;
const LONGEST_POSTPONEMENT_MS = 366 * 24 * 3600 * 1000;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A misspelled field must not be ignored silently. */
const allow = (object: Fields, allowed: readonly string[], prefix = ''): void => {
  const unknown = Object.keys(object).find((key) => !allowed.includes(key));
  if (unknown !== undefined)
    throw new InvalidDecision(`${prefix}${unknown}`, `is not a known field: use only ${allowed.join(', ')}`);
};

export const isTimeOfDay = (value: unknown): value is string => typeof value === 'string' && LOCAL_TIME.test(value);

const parseDays = (days: unknown): Weekday[] => {
  const field = 'when.days';
  if (!Array.isArray(days) || days.length === 0)
    throw new InvalidDecision(field, 'must be a list of at least one weekday; leave it out for every day');
  if (days.some((day) => !weekdays.some((known) => known === day)))
    throw new InvalidDecision(field, `contains an unknown weekday: use ${weekdays.join(', ')}`);
  if (new Set(days).size < days.length) throw new InvalidDecision(field, 'contains a weekday twice');
  return weekdays.filter((day) => days.includes(day));
};

const parseWindow = (when: Fields): When => {
  allow(when, ['type', 'from', 'to', 'days'], 'when.');
  const { from, to, days } = when;
  if (!isTimeOfDay(from)) throw new InvalidDecision('when.from', 'must be a time such as 22:00');
  if (!isTimeOfDay(to)) throw new InvalidDecision('when.to', 'must be a time such as 05:30');
  if (from === to) throw new InvalidDecision('when.to', 'must differ from when.from; use the type now for any time');
  return { type: 'window', from, to, ...(days !== undefined && { days: parseDays(days) }) };
};

const parseWhen = (when: unknown): When => {
  if (when === undefined) return { type: 'now' };
  if (!isObject(when)) throw new InvalidDecision('when', 'must be an object such as {"type":"now"}');
  const { type } = when;
  if (type === 'window') return parseWindow(when);
  if (type !== 'now' && type !== 'safe') throw new InvalidDecision('when.type', 'must be now, window or safe');
  allow(when, ['type'], 'when.');
  return { type };
};

const parseTime = (text: string): number => {
  if (!RFC3339.test(text)) return Number.NaN;
  // `Date` turns a day that the month doesn't have into one of the next month.
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  return day > new Date(Date.UTC(year, month, 0)).getUTCDate() ? Number.NaN : Date.parse(text);
};

const parseUntil = (until: unknown, now: number): string => {
  const time = typeof until === 'string' ? parseTime(until) : Number.NaN;
  if (Number.isNaN(time)) throw new InvalidDecision('until', 'must be an RFC 3339 time, such as 2026-11-21T17:00:00Z');
  if (time <= now) throw new InvalidDecision('until', 'is in the past: give a time in the future');
  if (time > now + LONGEST_POSTPONEMENT_MS)
    throw new InvalidDecision('until', 'is more than a year away: give an earlier time');
  return new Date(time).toISOString();
};

const parseChoice = (body: Fields, now: number): Choice => {
  switch (body.decision) {
    case 'approve':
      allow(body, ['revision', 'decision', 'when']);
      return { choice: 'approve', when: parseWhen(body.when) };
    case 'postpone':
      allow(body, ['revision', 'decision', 'until']);
      return { choice: 'postpone', until: parseUntil(body.until, now) };
    case 'reject':
      allow(body, ['revision', 'decision']);
      return { choice: 'reject' };
    default:
      throw new InvalidDecision('decision', 'must be approve, postpone or reject');
  }
};

/**
 * Parses the body of a decision, as `decisionRequestSchema` describes it, into its normal form (`when` filled in, times in
 * UTC, days in order), so that equal choices are deeply equal. Throws an `InvalidDecision`.
 */
export const parseDecision = (body: Fields, now: number): { revision: string; choice: Choice } => {
  const { revision } = body;
  if (typeof revision !== 'string' || revision === '' || revision.length > LONGEST_REVISION)
    throw new InvalidDecision(
      'revision',
      'must be the revision to decide on, as returned by GET /edgeset.io/v1/updates',
    );
  return { revision, choice: parseChoice(body, now) };
};
