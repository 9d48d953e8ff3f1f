import { escapeLine } from '../text/index.ts';
import { columnsOf, cutTo, type TonedLine, wrap } from '../view/index.ts';
import { hasColor, partsOf } from './color.ts';
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
export const canRedraw = (environment: Io['environment']): boolean => hasColor(environment) && !environment.CI;

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

/** The beginning of a painted line that fits into this many columns. */
const cutPainted = (painted: string, columns: number): string => {
  let left = columns;
  return partsOf(painted)
    .map(({ color, text }) => {
      const kept = cutTo(text, left);
      left = kept === text ? left - columnsOf(kept) : 0;
      return color + kept;
    })
    .join('');
};

/** As many of the lines as the screen has room for, each cut to its width: neither wraps. */
export const fitting = (lines: readonly string[], { columns, rows }: Screen): string[] => {
  const most = Math.max(1, rows);
  const shown = lines.length > most ? [...lines.slice(0, most - 1), `(${lines.length - most + 1} more lines)`] : lines;
  return shown.map((line) => cutPainted(line, columns));
};

/** Narrower lines are harder to read than lines that the terminal breaks. */
const MIN_WIDTH = 30;

/** On a terminal: lines broken at spaces, with further lines indented. Otherwise unchanged, for grep. */
const wrapped = (text: string, indent: string, width: number | undefined): string[] => {
  if (width === undefined) return [`${indent}${text}`];
  const [first = '', ...further] = wrap(text, Math.max(MIN_WIDTH, width - indent.length));
  const hanging = `${indent}  `;
  return [
    `${indent}${first}`,
    ...(further.length > 0 ? wrap(further.join(' '), Math.max(MIN_WIDTH, width - hanging.length)) : []).map(
      (more) => `${hanging}${more}`,
    ),
  ];
};

/** Prints lines, in color and wrapped on a terminal. */
export const printLines = (
  lines: readonly TonedLine[],
  { screen, paint, print }: Pick<Io, 'screen' | 'paint' | 'print'>,
): void => {
  const width = screen?.().columns;
  const painted = lines.flatMap(({ text, tone, upTo = Number.POSITIVE_INFINITY, depth = 0 }) => {
    let left = upTo;
    return wrapped(escapeLine(text), '  '.repeat(depth), width).map((line) => {
      // The text has no such indent.
      const hanging = line.length - line.trimStart().length;
      const head = line.slice(0, left > 0 ? hanging + left : 0);
      // A space was at the break.
      left = Math.max(0, left - (line.length - hanging) - 1);
      return `${paint(head, tone)}${line.slice(head.length)}\n`;
    });
  });
  print(painted.join(''));
};
