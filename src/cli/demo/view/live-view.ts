import { drawFrame } from './frame.ts';
import { type Line, toText, wrap } from './line.ts';
import type { View } from './view.ts';

export interface Screen {
  columns: number;
  rows: number;
}

const ESC = '\u001B[';
const CLEAR_TO_END_OF_LINE = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;
const CLEAR_SCREEN = `${ESC}2J${ESC}H`;
// Terminals that support mode 2026 show a frame at once; others ignore it.
const BEGIN_FRAME = `${ESC}?2026h`;
const END_FRAME = `${ESC}?2026l`;
// Without wrapping, a line that a shrinking window cuts off doesn't take a second row.
const HIDE_CURSOR = `${ESC}?25l${ESC}?7l`;
const RESTORE = `${ESC}?7h${ESC}?25h`;

/** Lines at the bottom of a terminal that are redrawn in place; finished lines scroll away above them. */
export const createLiveRegion = (write: (text: string) => void, screen: () => Screen) => {
  let shown: readonly string[] = [];
  let size = screen();
  let open = false;

  /** Moves to the region's first line. Clears the screen after a resize, which may have moved the region. */
  const home = (): string => {
    const { columns, rows } = screen();
    const moved = columns !== size.columns || rows !== size.rows;
    size = { columns, rows };
    if (moved) return CLEAR_SCREEN;
    return shown.length > 1 ? `\r${ESC}${shown.length - 1}A` : '\r';
  };
  const print = (lines: readonly string[]): string => lines.map((line) => line + CLEAR_TO_END_OF_LINE).join('\n');
  const frame = (text: string): void => {
    write(`${BEGIN_FRAME}${open ? '' : HIDE_CURSOR}${text}${END_FRAME}`);
    open = true;
  };
  const end = (text: string): void => {
    if (open) write(`${text}${RESTORE}`);
    open = false;
    shown = [];
  };

  return {
    /** Draws at most as many lines as the screen has. */
    draw(lines: readonly string[]): void {
      if (open && lines.length === shown.length && lines.every((line, index) => line === shown[index])) return;
      const start = home();
      shown = lines;
      frame(`${start}${print(lines)}${CLEAR_BELOW}`);
    },
    /** Prints lines above the region. */
    above(lines: readonly string[]): void {
      const start = home();
      frame(`${start}${print(lines)}\n${print(shown)}${CLEAR_BELOW}`);
    },
    /** Leaves the region on the screen and restores the terminal; output continues below. */
    leave: () => end('\n'),
    /** Erases the region and restores the terminal. Can be called twice, and after `leave`. */
    close: () => end(`${home()}${CLEAR_BELOW}`),
  };
};

export interface LiveViewOptions {
  write: (text: string) => void;
  screen: () => Screen;
  /** The terminal has glyphs beyond ASCII. */
  unicode: boolean;
  speed: number;
}

/** Time to read a step's text. */
const READING_MS = 1600;
const INDENT = '   ';

export const createLiveView = ({ write, screen, unicode, speed }: LiveViewOptions): View => {
  const region = createLiveRegion(write, screen);
  let drawn: readonly string[] = [];
  const text = (lines: readonly Line[]): string[] => lines.map((line) => toText(line, true));
  const printResult = (passed: boolean, title: string, result: string): void => {
    // Keep the last column free: clearing the rest of a full line would erase its last character.
    const glyph = passed ? (unicode ? ' ✓ ' : ' + ') : unicode ? ' ✗ ' : ' x ';
    const [first = '', ...more] = wrap(`${title}: ${result}`, screen().columns - INDENT.length - 1);
    region.above(
      text([
        [{ text: glyph, style: { kind: passed ? 'good' : 'bad' } }, { text: first }],
        ...more.map((line) => [{ text: INDENT + line }]),
      ]),
    );
  };
  return {
    readingMs: READING_MS / Math.max(1, speed / 10),
    say(lines) {
      if (drawn.length > 0) region.above(lines);
      else write(`${lines.join('\n')}\n`);
    },
    step: () => undefined,
    show(progress, snapshot) {
      const { columns, rows } = screen();
      drawn = text(drawFrame(progress, snapshot, { columns, rows: rows - 1, unicode }));
      region.draw(drawn);
    },
    passed: ({ title }, seen) => printResult(true, title, seen),
    failed({ title }, why) {
      printResult(false, title, why);
      // The last picture is worth more than a clean screen.
      region.leave();
      drawn = [];
    },
    close() {
      region.close();
      drawn = [];
    },
  };
};
