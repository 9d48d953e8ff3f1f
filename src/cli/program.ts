import { Command, CommanderError } from 'commander';
import { type ExitCode, exitCodes, type Io } from './io.ts';
import { version } from './version.ts';

export interface CommandContext {
  io: Io;
  /** Sets the exit code of the program. Default 0. */
  exit: (code: ExitCode) => void;
}

/**
 * Adds one subcommand to the program. The action imports the module that does the work, so that no command waits for
 * the dependencies of another one to load.
 */
export type AddCommand = (program: Command, context: CommandContext) => void;

export interface ProgramOptions {
  /** How the program was called. */
  name: string;
  io: Io;
  build: (program: Command, context: CommandContext) => void;
  /** Default: parses the command line and runs the command. */
  run?: (program: Command) => Promise<void>;
}

/** Prints an error that a command threw, and returns the exit code for it. */
const reportError = (error: unknown, { io, name }: ProgramOptions): ExitCode => {
  // commander has printed its own errors. `help` and `--version` throw with exit code 0; a missing command doesn't.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  io.stderr(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
  return error instanceof Error && 'code' in error && error.code === 'InvalidOption'
    ? exitCodes.usage
    : exitCodes.failed;
};

/** Runs one command line, without node and script. Resolves with the exit code; never rejects. */
export const runProgram = async (args: readonly string[], options: ProgramOptions): Promise<ExitCode> => {
  const { name, io, build, run = async (program) => void (await program.parseAsync(args, { from: 'user' })) } = options;
  let code: ExitCode = exitCodes.ok;
  const program = new Command(name)
    .description('DaemonSet rollouts for machines that come and go')
    .version(version)
    .exitOverride()
    .showHelpAfterError('(run with --help for usage)')
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr });
  build(program, {
    io,
    exit: (wanted) => {
      code = wanted;
    },
  });
  try {
    await run(program);
    return code;
  } catch (error) {
    return reportError(error, options);
  }
};
