import { Command } from 'commander';
import type { CommandContext } from './command.ts';
import { type ExitCode, exitCodes, reportError } from './exit-code.ts';
import type { Io } from './io.ts';
import { version } from './version.ts';

export interface ProgramOptions {
  /** How it was called. */
  name: string;
  io: Io;
  /** Gives it its commands. */
  build: (program: Command, context: CommandContext) => void;
  /** Default: parses the command line and runs the command. */
  run?: (program: Command) => Promise<void>;
}

/** Runs one command line, without node and script. Resolves with the exit code; never rejects. */
export const runProgram = async (args: readonly string[], options: ProgramOptions): Promise<ExitCode> => {
  const { name, io, build, run = async (program) => void (await program.parseAsync(args, { from: 'user' })) } = options;
  let code: ExitCode = exitCodes.ok;
  const program = new Command(name)
    .description('DaemonSet rollouts for machines that come and go')
    .version(version)
    .exitOverride()
    .showHelpAfterError('(add --help to see what there is)')
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
    return reportError(error, io.stderr, name);
  }
};
