export interface Screen {
  columns: number;
  rows: number;
}

/** Lines at the bottom of a terminal that are redrawn in place, with finished lines scrolling away above them. */
export interface LiveRegion {
  /** Never more lines than the screen has. */
  draw(lines: readonly string[]): void;
  /** Puts lines above the region, for good. */
  above(lines: readonly string[]): void;
  /** Lets the region stand as it is and gives the terminal back; what is written next comes below. */
  leave(): void;
  /** Takes the region away and gives the terminal back as it was. May be called twice, and after `leave`. */
  close(): void;
}

const ESC = '\u001B[';
const CLEAR_TO_END_OF_LINE = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;
const CLEAR_SCREEN = `${ESC}2J${ESC}H`;
// Terminals that know mode 2026 show a frame at once; others ignore it.
const BEGIN_FRAME = `${ESC}?2026h`;
const END_FRAME = `${ESC}?2026l`;
// Without wrapping, a line that a shrinking window cuts short takes no second row.
const TAKE = `${ESC}?25l${ESC}?7l`;
const GIVE_BACK = `${ESC}?7h${ESC}?25h`;

export const createLiveRegion = (write: (text: string) => void, screen: () => Screen): LiveRegion => {
  let shown: readonly string[] = [];
  let size = screen();
  let open = false;

  /** To the region's first column, with what stood there gone where the window's new size may have moved it. */
  const home = (): string => {
    const { columns, rows } = screen();
    const moved = columns !== size.columns || rows !== size.rows;
    size = { columns, rows };
    if (moved) return CLEAR_SCREEN;
    return shown.length > 1 ? `\r${ESC}${shown.length - 1}A` : '\r';
  };
  const print = (lines: readonly string[]): string => lines.map((line) => line + CLEAR_TO_END_OF_LINE).join('\n');
  const frame = (text: string): void => {
    write(`${BEGIN_FRAME}${open ? '' : TAKE}${text}${END_FRAME}`);
    open = true;
  };

  return {
    draw(lines) {
      if (open && lines.length === shown.length && lines.every((line, index) => line === shown[index])) return;
      const start = home();
      shown = lines;
      frame(`${start}${print(lines)}${CLEAR_BELOW}`);
    },
    above(lines) {
      const start = home();
      frame(`${start}${print(lines)}\n${print(shown)}${CLEAR_BELOW}`);
    },
    leave() {
      if (!open) return;
      open = false;
      write(`\n${GIVE_BACK}`);
      shown = [];
    },
    close() {
      if (!open) return;
      open = false;
      write(`${home()}${CLEAR_BELOW}${GIVE_BACK}`);
      shown = [];
    },
  };
};
