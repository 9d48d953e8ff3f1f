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

/** Whether output can be redrawn in place: not in CI, where a log keeps every line, and not when NO_COLOR is set. */
export const canRedraw = (environment: Readonly<Record<string, string | undefined>>): boolean =>
  !environment.NO_COLOR && !environment.CI && environment.TERM !== 'dumb';

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
      const all = text.replace(/\n$/, '').split('\n');
      const lines = all.length > most ? [...all.slice(0, most - 1), `(${all.length - most + 1} more lines)`] : all;
      write(`${UP_AND_CLEAR(shown)}${lines.map((line) => `${line.slice(0, columns)}\n`).join('')}`);
      shown = lines.length;
    },
  };
};
