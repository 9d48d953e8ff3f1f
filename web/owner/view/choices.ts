import type { Choice, Update } from '../types.ts';
import { tomorrowAt } from './zone.ts';

/** When shops are closed and vehicles are parked. */
export const NIGHT = { from: '02:00', to: '05:00' } as const;

/** After a working day. */
const ASK_AGAIN_HOUR = 18;

export type ChoiceName = 'now' | 'tonight' | 'later' | 'reject';

export const askAgainAt = (now: number, timeZone: string): number => tomorrowAt(now, ASK_AGAIN_HOUR, timeZone);

export const choiceOf = (name: ChoiceName, now: number, timeZone: string): Choice => {
  switch (name) {
    case 'now':
      return { choice: 'approve', when: { type: 'now' } };
    case 'tonight':
      return { choice: 'approve', when: { type: 'window', ...NIGHT } };
    case 'later':
      return { choice: 'postpone', until: new Date(askAgainAt(now, timeZone)).toISOString() };
    case 'reject':
      return { choice: 'reject' };
  }
};

/** Which choice of the page the current decision is; undefined if it was not made with the page. */
export const chosenName = ({ decision }: Update): ChoiceName | undefined => {
  if (decision?.state !== 'open') return undefined;
  const choice = decision.decision;
  if (choice.choice === 'postpone') return 'later';
  if (choice.choice === 'reject') return 'reject';
  const { when } = choice;
  if (when.type === 'now') return 'now';
  return when.type === 'window' && when.from === NIGHT.from && when.to === NIGHT.to ? 'tonight' : undefined;
};

/** The owner is asked, or can still change the decision. */
export const mayDecide = ({ state, target }: Update): boolean =>
  target.revision !== null &&
  (state === 'available' || state === 'postponed' || state === 'rejected' || state === 'queued');

/** While the outcome of an update is unknown, the owner can't change the decision. */
export const isUnderWay = ({ decision }: Update): boolean => decision?.state === 'acting';

/** There is a new version, but the owner is not asked yet. */
export const isWithheld = ({ state, running, target, pod }: Update): boolean =>
  state === 'current' && pod !== null && target.revision !== null && running.revision !== target.revision;
