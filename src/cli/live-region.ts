import type { Screen } from './terminal.ts';

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

  /** The window was resized since the last frame, which may have moved the region. */
  const isMoved = (): boolean => {
    const { columns, rows } = screen();
    const moved = columns !== size.columns || rows !== size.rows;
    size = { columns, rows };
    return moved;
  };
  /** Moves to the region's first line. */
  const home = (moved = isMoved()): string => {
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
    /** Draws at most as many lines as the screen has. Writes only the lines that have changed. */
    draw(lines: readonly string[]): void {
      const moved = isMoved();
      const before = shown;
      const inPlace = open && !moved && lines.length === before.length;
      if (inPlace && lines.every((line, index) => line === before[index])) return;
      const start = home(moved);
      shown = lines;
      if (!inPlace) frame(`${start}${print(lines)}${CLEAR_BELOW}`);
      else frame(start + lines.map((line, at) => (line === before[at] ? '' : line + CLEAR_TO_END_OF_LINE)).join('\n'));
    },
    /** Prints lines above the region. */
    above(lines: readonly string[]): void {
      const start = home();
      frame(`${start}${print(lines)}\n${print(shown)}${CLEAR_BELOW}`);
    },
    /** Leaves the region on the screen and restores the terminal; output continues below. */
    // The last line once more: the terminal has echoed ^C into it.
    leave: () => end(`\r${shown.at(-1) ?? ''}${CLEAR_TO_END_OF_LINE}\n`),
    /** Erases the region and restores the terminal. Can be called twice, and after `leave`. */
    close: () => end(`${home()}${CLEAR_BELOW}`),
  };
};
