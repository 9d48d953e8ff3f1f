import { escapeText } from '../text/index.ts';
// Types only: help and completion must not wait for the decision core to load.
import type { Paint, Tone } from '../view/index.ts';

const ESC = '\u001B[';
const RESET = `${ESC}0m`;

/** Colors of a terminal with 256 colors. */
export const codes: Readonly<Record<Tone, string>> = {
  bad: '1;31',
  warning: '33',
  accent: '38;5;33',
  good: '32',
  dim: '2',
  bold: '1',
};

/** Whether a terminal gets colors: https://no-color.org */
export const hasColor = (environment: Readonly<Record<string, string | undefined>>): boolean =>
  !environment.NO_COLOR && environment.TERM !== 'dumb';

export const paint: Paint = (text, tone) =>
  tone === undefined || text === '' ? text : `${ESC}${codes[tone]}m${text}${RESET}`;

/** Splits into pieces of text, each with the color sequence before it. */
export const partsOf = (painted: string): { color: string; text: string }[] =>
  painted.split(ESC).map((piece, index) => {
    if (index === 0) return { color: '', text: piece };
    const end = piece.indexOf('m');
    const isColor = end >= 0 && /^[\d;]*$/.test(piece.slice(0, end));
    return isColor
      ? { color: `${ESC}${piece.slice(0, end + 1)}`, text: piece.slice(end + 1) }
      : { color: '', text: `${ESC}${piece}` };
  });

/** Only colors act on the terminal. */
export const escapePainted = (painted: string): string =>
  partsOf(painted)
    .map(({ color, text }) => color + escapeText(text))
    .join('');

/** As it is where there are no colors. */
export const withoutColors = (painted: string): string =>
  partsOf(painted)
    .map(({ text }) => text)
    .join('');
