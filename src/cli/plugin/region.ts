/** Whether what is shown may be rewritten in place: not where a log keeps all of it, nor where the user asks for quiet. */
export const mayRewrite = (environment: Readonly<Record<string, string | undefined>>): boolean =>
  !environment.NO_COLOR && !environment.CI && environment.TERM !== 'dumb';

export interface Region {
  /** Shows this in place of what was shown before. */
  show(text: string): void;
}

const UP_AND_CLEAR = (lines: number): string => (lines === 0 ? '' : `\u001B[${lines}A\u001B[0J`);

/** Lines at the end of a terminal that are rewritten in place. */
export const createRegion = (write: (text: string) => void, size: () => { columns: number; rows: number }): Region => {
  let shown = 0;
  return {
    show(text) {
      const { columns, rows } = size();
      // A line that wraps, or a region taller than the terminal, could not be taken back.
      const most = Math.max(1, rows - 1);
      const all = text.replace(/\n$/, '').split('\n');
      const lines = all.length > most ? [...all.slice(0, most - 1), `(${all.length - most + 1} more lines)`] : all;
      write(`${UP_AND_CLEAR(shown)}${lines.map((line) => `${line.slice(0, columns)}\n`).join('')}`);
      shown = lines.length;
    },
  };
};
