/** What a command line has of its process. Data goes to stdout, everything else to stderr. */
export interface Io {
  stdout: (text: string) => void;
  stderr: (text: string) => void;
  /** stderr is a person's terminal. */
  terminal: boolean;
  /** The present size of the person's terminal that stdout is; undefined when stdout is a file or a pipe. */
  screen?: (() => { columns: number; rows: number }) | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** Uniform in [0, 1). */
  random: () => number;
}

export const processIo = (random: () => number): Io => {
  const { stdout, stderr } = process;
  // `edgeset status | head -1`: whoever reads has enough, which is no error of ours.
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
