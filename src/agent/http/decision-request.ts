import { type Choice, type Timestamp, type Weekday, type When, weekdays } from '../types.ts';
import { failure, type HttpAnswer } from './answer.ts';

export type DecisionRequest =
  | { kind: 'ok'; revision: string; choice: Choice }
  | { kind: 'refused'; answer: HttpAnswer };

class Invalid extends Error {}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parseWhen = (value: unknown): When => {
  if (value === undefined) return { type: 'now' };
  if (!isRecord(value)) throw new Invalid('when is an object with a type: now, window or safe');
  const { type, from, to, days } = value;
  if (type === 'now' || type === 'safe') return { type };
  if (type !== 'window') throw new Invalid('when.type is one of now, window, safe');
  const time = /^([01]\d|2[0-3]):[0-5]\d$/;
  if (typeof from !== 'string' || typeof to !== 'string' || !time.test(from) || !time.test(to) || from === to)
    throw new Invalid('when.from and when.to are two different times, such as 22:00 and 05:00');
  if (days === undefined) return { type, from, to };
  if (!Array.isArray(days) || days.length === 0 || !days.every((day): day is Weekday => weekdays.includes(day)))
    throw new Invalid(`when.days is a list of ${weekdays.join(', ')}`);
  return { type, from, to, days };
};

const parseUntil = (value: unknown): Timestamp => {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value))) throw new Invalid('until is a time');
  return value;
};

const parseChoice = ({ decision, when, until }: Record<string, unknown>): Choice => {
  if (decision === 'approve') return { choice: decision, when: parseWhen(when) };
  if (decision === 'postpone') return { choice: decision, until: parseUntil(until) };
  if (decision === 'reject') return { choice: decision };
  throw new Invalid('decision is one of approve, postpone, reject');
};

const FIELDS: readonly string[] = ['revision', 'decision', 'when', 'until'];

/** Reads the body of a decision: which revision it is for, and what is decided. */
export const parseDecisionRequest = (body: Record<string, unknown>): DecisionRequest => {
  const { revision } = body;
  const invalid = (message: string): DecisionRequest => ({
    kind: 'refused',
    answer: failure(422, message, { cause: 'BadDecision' }),
  });
  const unknown = Object.keys(body).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    return invalid(`there is no field "${unknown.slice(0, 40)}": the fields are ${FIELDS.join(', ')}`);
  if (typeof revision !== 'string' || revision === '' || revision.length > 253)
    return invalid('revision is the revision that the decision is for, as GET updates tells it');
  try {
    return { kind: 'ok', revision, choice: parseChoice(body) };
  } catch (error) {
    if (error instanceof Invalid) return invalid(error.message);
    throw error;
  }
};
