import { type ParseChoiceOptions, parseChoice } from '../decisions/index.ts';
import type { Choice } from '../types.ts';
import { failure, type HttpResponse } from './response.ts';

export type DecisionRequest =
  | { kind: 'ok'; revision: string; choice: Choice }
  | { kind: 'refused'; answer: HttpResponse };

const LONGEST_REVISION = 253;

/** Reads the body of a decision: which revision it is for, and what is decided (there named `decision`). */
export const parseDecisionRequest = (body: Record<string, unknown>, options: ParseChoiceOptions): DecisionRequest => {
  const { revision, decision, ...rest } = body;
  const invalid = (field: string, message: string): DecisionRequest => ({
    kind: 'refused',
    answer: failure(422, `${field.slice(0, 80)} ${message}`, { cause: 'BadDecision' }),
  });
  if (typeof revision !== 'string' || revision === '' || revision.length > LONGEST_REVISION)
    return invalid('revision', 'must be the revision that the decision is for, as GET updates tells it');
  if ('choice' in rest) return invalid('choice', 'is not a field here: it is called decision');
  const parsed = parseChoice({ ...rest, choice: decision }, options);
  if (parsed.ok) return { kind: 'ok', revision, choice: parsed.choice };
  return invalid(parsed.field === 'choice' ? 'decision' : parsed.field, parsed.message);
};
