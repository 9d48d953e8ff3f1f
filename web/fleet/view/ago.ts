import { shownNow } from '../clock.ts';
import { text } from '../text/index.ts';

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

const format = new Intl.RelativeTimeFormat(text.language, { numeric: 'auto', style: 'short' });

/** A length of time, such as `3 min`; empty without one. */
export const lasted = (ms: number | undefined): string => {
  if (ms === undefined) return '';
  const [unit, size] = UNITS.find(([, one]) => ms >= one * 1_000) ?? ['second', 1];
  return new Intl.NumberFormat(text.language, { style: 'unit', unit }).format(Math.floor(ms / 1_000 / size));
};

/** How long ago that was, such as `3 hr. ago`; empty without a time. */
export const ago = (time: string | undefined, now = shownNow.value): string => {
  if (!time) return '';
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  const found = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  return found
    ? format.format(Math.trunc(seconds / found[1]), found[0])
    : format.format(Math.min(0, seconds), 'second');
};

/** How long it is until then, such as `4 min`; empty if that is past, or unknown. */
export const until = (time: string | undefined, now = shownNow.value): string => {
  const ms = time === undefined ? 0 : Date.parse(time) - now;
  return ms > 0 ? lasted(ms) : '';
};
