/** What a command line has of its process. Data goes to stdout, everything else to stderr. */
export interface Io {
  stdout: (text: string) => void;
  stderr: (text: string) => void;
  /** stderr is a person's terminal. */
  terminal: boolean;
  environment: Readonly<Record<string, string | undefined>>;
  /** Uniform in [0, 1). */
  random: () => number;
}

export const processIo = (random: () => number): Io => ({
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  terminal: process.stderr.isTTY,
  environment: process.env,
  random,
});
