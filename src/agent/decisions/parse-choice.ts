import { type Choice, type Weekday, type When, weekdays } from '../types.ts';

export type ParsedChoice = { ok: true; choice: Choice } | { ok: false; field: string; message: string };

export interface ParseChoiceOptions {
  now: number;
  /** Whether the device has a safety check; without one, no update can wait for it. */
  safeConfigured: boolean;
}

type Parsed<T> = { ok: true; value: T } | { ok: false; field: string; message: string };

const LONGEST_POSTPONEMENT_MS = 366 * 24 * 3600 * 1000;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

const bad = (field: string, message: string): { ok: false; field: string; message: string } => ({
  ok: false,
  field,
  message,
});

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first unknown field: a misspelled field must not be ignored silently. */
const unknownField = (
  object: Readonly<Record<string, unknown>>,
  allowed: readonly string[],
  prefix = '',
): ReturnType<typeof bad> | undefined => {
  const field = Object.keys(object).find((key) => !allowed.includes(key));
  return field === undefined
    ? undefined
    : bad(`${prefix}${field}`, `is not a known field: use only ${allowed.join(', ')}`);
};

const isWeekday = (value: unknown): value is Weekday => weekdays.some((day) => day === value);

export const isTimeOfDay = (value: unknown): value is string => typeof value === 'string' && TIME.test(value);

const parseDays = (value: unknown): Parsed<Weekday[] | undefined> => {
  if (value === undefined) return { ok: true, value: undefined };
  const field = 'when.days';
  if (!Array.isArray(value) || value.length === 0)
    return bad(field, 'must be a list of at least one weekday; leave it out for every day');
  const entries: readonly unknown[] = value;
  const days = entries.filter(isWeekday);
  if (days.length < entries.length) return bad(field, `contains an unknown weekday: use ${weekdays.join(', ')}`);
  if (new Set(days).size < days.length) return bad(field, 'contains a weekday twice');
  return { ok: true, value: weekdays.filter((day) => days.includes(day)) };
};

const parseWindow = (when: Readonly<Record<string, unknown>>): Parsed<When> => {
  const unknown = unknownField(when, ['type', 'from', 'to', 'days'], 'when.');
  if (unknown) return unknown;
  const { from, to } = when;
  if (!isTimeOfDay(from)) return bad('when.from', 'must be a time such as 22:00');
  if (!isTimeOfDay(to)) return bad('when.to', 'must be a time such as 05:30');
  if (from === to) return bad('when.to', 'must differ from when.from; use the type now for any time');
  const days = parseDays(when.days);
  if (!days.ok) return days;
  return { ok: true, value: { type: 'window', from, to, ...(days.value && { days: days.value }) } };
};

const parseWhen = (when: unknown, safeConfigured: boolean): Parsed<When> => {
  if (when === undefined) return { ok: true, value: { type: 'now' } };
  if (!isObject(when)) return bad('when', 'must be an object such as {"type":"now"}');
  if (when.type === 'window') return parseWindow(when);
  if (when.type !== 'now' && when.type !== 'safe') return bad('when.type', 'must be now, window or safe');
  const unknown = unknownField(when, ['type'], 'when.');
  if (unknown) return unknown;
  if (when.type === 'safe' && !safeConfigured)
    return bad('when.type', 'cannot be safe: no safety check is configured on this device (--safe-check)');
  return { ok: true, value: { type: when.type } };
};

const parseTime = (text: string): number => {
  if (!RFC3339.test(text)) return Number.NaN;
  // `Date` turns a day that the month doesn't have into one of the next month.
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  return day > new Date(Date.UTC(year, month, 0)).getUTCDate() ? Number.NaN : Date.parse(text);
};

const parseUntil = (until: unknown, now: number): Parsed<string> => {
  const time = typeof until === 'string' ? parseTime(until) : Number.NaN;
  if (Number.isNaN(time)) return bad('until', 'must be an RFC 3339 time, such as 2026-11-21T17:00:00Z');
  if (time <= now) return bad('until', 'is in the past: give a time in the future');
  if (time > now + LONGEST_POSTPONEMENT_MS) return bad('until', 'is more than a year away: give an earlier time');
  return { ok: true, value: new Date(time).toISOString() };
};

/**
 * Parses an owner's choice from untrusted JSON into its normal form (`when` filled in, times in UTC, days in order), so that
 * equal choices are deeply equal. For invalid input, returns the field and how to fix it.
 */
export const parseChoice = (value: unknown, { now, safeConfigured }: ParseChoiceOptions): ParsedChoice => {
  if (!isObject(value)) return bad('choice', 'must be an object such as {"choice":"approve"}');
  switch (value.choice) {
    case 'approve': {
      const unknown = unknownField(value, ['choice', 'when']);
      if (unknown) return unknown;
      const when = parseWhen(value.when, safeConfigured);
      return when.ok ? { ok: true, choice: { choice: 'approve', when: when.value } } : when;
    }
    case 'postpone': {
      const unknown = unknownField(value, ['choice', 'until']);
      if (unknown) return unknown;
      const until = parseUntil(value.until, now);
      return until.ok ? { ok: true, choice: { choice: 'postpone', until: until.value } } : until;
    }
    case 'reject':
      return unknownField(value, ['choice']) ?? { ok: true, choice: { choice: 'reject' } };
    default:
      return bad('choice', 'must be approve, postpone or reject');
  }
};
