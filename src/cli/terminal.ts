import { escapeLine } from '../text/index.ts';
import { cutTo, wrap } from '../view/index.ts';
import type { Io } from './io.ts';

/** A signal that aborts on SIGINT or SIGTERM; `done` removes the signal handlers. */
export const untilInterrupted = (): { signal: AbortSignal; done: () => void } => {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  return {
    signal: controller.signal,
    done: () => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
};

export interface Screen {
  columns: number;
  rows: number;
}

/** A terminal that can be redrawn in place. The caller escapes the texts of the cluster (`escapeLine`). */
export interface LiveScreen {
  write: (text: string) => void;
  screen: () => Screen;
  /** The terminal has glyphs beyond ASCII. */
  unicode: boolean;
}

/** On a smaller terminal, lines show more than a picture. */
const SMALLEST_SCREEN = { columns: 40, rows: 16 };

/** Whether output can be redrawn in place: not in CI, where a log keeps every line, and not when NO_COLOR is set. */
export const canRedraw = (environment: Io['environment']): boolean =>
  !environment.NO_COLOR && !environment.CI && environment.TERM !== 'dumb';

/** The Linux console and terminals without a UTF-8 locale have ASCII glyphs only. */
const hasUnicode = ({ LC_ALL, LC_CTYPE, LANG, TERM }: Io['environment']): boolean =>
  TERM !== 'linux' && /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');

/** Where to draw a live picture; undefined for files, pipes, CI, NO_COLOR and small terminals. */
export const liveScreenOf = ({ draw, screen, environment }: Io): LiveScreen | undefined => {
  const size = screen?.();
  const isLarge = size && size.columns >= SMALLEST_SCREEN.columns && size.rows >= SMALLEST_SCREEN.rows;
  if (!screen || !isLarge || !canRedraw(environment)) return undefined;
  return { write: draw.stdout, screen, unicode: hasUnicode(environment) };
};

export interface Region {
  /** Replaces the text that was shown before. */
  show(text: string): void;
}

const UP_AND_CLEAR = (lines: number): string => (lines === 0 ? '' : `\u001B[${lines}A\u001B[0J`);

/** The last lines of a terminal, redrawn in place. */
export const createRegion = (write: (text: string) => void, size: () => { columns: number; rows: number }): Region => {
  let shown = 0;
  return {
    show(text) {
      const { columns, rows } = size();
      // A line that wraps, or a region taller than the terminal, could not be erased again.
      const most = Math.max(1, rows - 1);
      const all = text.replace(/\n$/, '').split('\n').map(escapeLine);
      const lines = all.length > most ? [...all.slice(0, most - 1), `(${all.length - most + 1} more lines)`] : all;
      write(`${UP_AND_CLEAR(shown)}${lines.map((line) => `${cutTo(line, columns)}\n`).join('')}`);
      shown = lines.length;
    },
  };
};

/** Narrower lines are harder to read than lines that the terminal breaks. */
const MIN_WIDTH = 30;

/** On a terminal: lines broken at spaces, with further lines indented. Otherwise unchanged, for grep. */
export const wrapped = (lines: readonly string[], { screen }: Pick<Io, 'screen'>): string[] => {
  const width = screen?.().columns;
  if (width === undefined) return [...lines];
  return lines.flatMap((line) => {
    const [indent = ''] = /^ */.exec(line) ?? [];
    const [first = '', ...further] = wrap(line.slice(indent.length), Math.max(MIN_WIDTH, width - indent.length));
    const hanging = `${indent}  `;
    return [
      `${indent}${first}`,
      ...(further.length > 0 ? wrap(further.join(' '), Math.max(MIN_WIDTH, width - hanging.length)) : []).map(
        (more) => `${hanging}${more}`,
      ),
    ];
  });
};
