import { CommanderError } from 'commander';

/** What the shell is told; `stalled`: a rollout that was waited for will not go on by itself. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, stalled: 3 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const isUsage = (error: Error): boolean => 'code' in error && error.code === 'InvalidOption';

/** Reports what a command of the program `name` threw on stderr and turns it into the exit code. */
export const reportError = (error: unknown, stderr: (text: string) => void, name: string): ExitCode => {
  if (error instanceof CommanderError) {
    // commander has printed it. Help and version, asked for, end with 0; help instead of a missing command does not.
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  if (!(error instanceof Error)) {
    stderr(`${name}: ${String(error)}\n`);
    return exitCodes.failed;
  }
  stderr(`${name}: ${error.message}\n`);
  return isUsage(error) ? exitCodes.usage : exitCodes.failed;
};
