import type { Choice, Update } from '../types.ts';
import { tomorrowAt } from './zone.ts';

/** After a working day. */
const ASK_AGAIN_HOUR = 18;

export type ChoiceName = 'now' | 'tonight' | 'later' | 'reject';

export const askAgainAt = (now: number, timeZone: string): number => tomorrowAt(now, ASK_AGAIN_HOUR, timeZone);

/** The answers that the agent accepts now. */
export const answersOf = (
  { choices: { approve, tonight, postpone, reject } }: Update,
  now: number,
  timeZone: string,
): Partial<Record<ChoiceName, Choice>> => ({
  ...(approve && { now: { choice: 'approve', when: { type: 'now' } } }),
  ...(tonight && { tonight: { choice: 'approve', when: { type: 'window', ...tonight } } }),
  ...(postpone && { later: { choice: 'postpone', until: new Date(askAgainAt(now, timeZone)).toISOString() } }),
  ...(reject && { reject: { choice: 'reject' } }),
});

/** Which choice of the page the current decision is; undefined if it was not made with the page. */
export const chosenName = ({ decision, choices: { tonight } }: Update): ChoiceName | undefined => {
  if (decision?.state !== 'open') return undefined;
  const choice = decision.decision;
  if (choice.choice === 'postpone') return 'later';
  if (choice.choice === 'reject') return 'reject';
  const { when } = choice;
  if (when.type === 'now') return 'now';
  return when.type === 'window' && when.from === tonight?.from && when.to === tonight.to ? 'tonight' : undefined;
};

/** The owner is asked, or can still change the decision. Not while nobody can tell what the state is. */
export const mayDecide = ({ state, choices }: Update): boolean => choices.approve && state !== 'unknown';

/** There is a new version, but the owner is not asked yet. */
export const isWithheld = ({ state, running, target, pod }: Update): boolean =>
  state === 'current' && pod !== null && target.revision !== null && running.revision !== target.revision;
