import { escapeText } from '../text/index.ts';
import type { Caller, Paint } from '../view/index.ts';
import { escapePainted, hasColor, paint } from './color.ts';
import { version } from './version.ts';

/** Exit codes. `stalled`: the rollout that `wait` watched is stuck until someone acts. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, stalled: 3 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The parts of its process that the program uses. Data goes to stdout, everything else to stderr. */
export interface ProcessIo extends Omit<Caller, 'edgeset' | 'version'> {
  stdout: (text: string) => void;
  stderr: (text: string) => void;
  /** Whether stderr is a terminal. */
  terminal: boolean;
  /** The current size of the terminal; undefined when stdout is a file or a pipe. */
  screen?: (() => { columns: number; rows: number }) | undefined;
}

/**
 * What a command prints with. No character that acts on a terminal passes `stdout` and `stderr`. Texts of the
 * cluster also need `toLines`, a table or `structured`, which keep their newlines from starting a line.
 */
export interface Io extends ProcessIo {
  /** Colors what goes to stdout, or leaves it as it is. */
  paint: Paint;
  /** Prints text of which pieces are painted. */
  print: (text: string) => void;
  /** Text with control sequences, for views that escape what they show. */
  draw: { stdout: (text: string) => void; stderr: (text: string) => void };
  version: string;
  /**
   * The command line `words`, as in `resume ds/web`, for the user to type: this program, the namespace, and the flags of this call
   * that the next one needs, too. `context`: of the kubeconfig, where the call itself names several.
   */
  edgeset: (words: string, namespace?: string, context?: string) => string;
}

export const createIo = (io: ProcessIo, edgeset: Io['edgeset']): Io => ({
  ...io,
  edgeset,
  version,
  stdout: (text) => io.stdout(escapeText(text)),
  stderr: (text) => io.stderr(escapeText(text)),
  paint: io.screen && hasColor(io.environment) ? paint : (text) => text,
  print: (text) => io.stdout(escapePainted(text)),
  draw: { stdout: io.stdout, stderr: io.stderr },
});

export const processIo = (random: () => number): ProcessIo => {
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
