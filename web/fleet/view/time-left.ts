import { shownNow } from '../clock.ts';
import { text } from '../text/index.ts';
import { lasted } from './ago.ts';

const MINUTE_MS = 60_000;

/** Until an estimated time, such as `12 min`; empty without one. */
export const timeLeft = (time: string | undefined, now = shownNow.value): string => {
  if (!time) return '';
  const left = Date.parse(time) - now;
  return left < MINUTE_MS ? text.overview.underAMinute : lasted(left);
};
