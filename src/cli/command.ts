import type { Command } from 'commander';
import type { ExitCode } from './exit-code.ts';
import type { Io } from './io.ts';

/** Handed to each subcommand: what it may use, and where it leaves its exit code when that is not 0. */
export interface CommandContext {
  io: Io;
  exit: (code: ExitCode) => void;
}

/**
 * Adds one subcommand to the program. The module that does the work is imported by the action itself, so that no
 * command waits for another one's dependencies to load.
 */
export type AddCommand = (program: Command, context: CommandContext) => void;
