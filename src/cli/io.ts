/** Exit codes. `stalled`: the rollout that `wait` watched is stuck until someone acts. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, stalled: 3 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The parts of its process that a command uses. Data goes to stdout, everything else to stderr. */
export interface Io {
  stdout: (text: string) => void;
  stderr: (text: string) => void;
  /** Whether stderr is a terminal. */
  terminal: boolean;
  /** The current size of the terminal; undefined when stdout is a file or a pipe. */
  screen?: (() => { columns: number; rows: number }) | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** Uniform in [0, 1). */
  random: () => number;
}

export const processIo = (random: () => number): Io => {
  const { stdout, stderr } = process;
  // `edgeset status | head -1`: the reader has closed the pipe because it has enough, which is not an error.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return {
    stdout: (text) => stdout.write(text),
    stderr: (text) => stderr.write(text),
    terminal: stderr.isTTY,
    screen: stdout.isTTY ? () => ({ columns: stdout.columns, rows: stdout.rows }) : undefined,
    environment: process.env,
    random,
  };
};
