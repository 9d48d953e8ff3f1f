import { Command, CommanderError } from 'commander';
import { errorText, loadTemporal } from '../runtime/index.ts';
import { quoted, toMessage } from '../text/index.ts';
import { createIo, type ExitCode, exitCodes, type Io, type ProcessIo } from './io.ts';
import { findOption, flagsAfterCommand, usageError } from './usage.ts';
import { version } from './version.ts';

export interface CommandContext {
  io: Io;
  /** Sets the exit code of the program. Default 0. */
  exit: (code: ExitCode) => void;
}

/** The first argument of a call for completions: a contract with the shell scripts and `kubectl_complete-edgeset`. */
export const COMPLETE = '__complete';

/**
 * Adds one subcommand to the program. The action imports the module that does the work, so that no command waits for
 * the dependencies of another one to load.
 */
export type AddCommand = (program: Command, context: CommandContext) => void;

export interface ProgramOptions {
  /** How the program was called. */
  name: string;
  io: ProcessIo;
  build: (program: Command, context: CommandContext) => void;
  /** Default: runs the command line. */
  run?: ((program: Command, io: Io) => Promise<void>) | undefined;
}

/** Prints an error that a command threw, and returns the exit code for it. */
const reportError = (error: unknown, io: Io, name: string): ExitCode => {
  // commander has reported its own errors. `help` and `--version` throw with exit code 0; a missing command doesn't.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  io.stderr(toMessage(`${name}: ${errorText(error)}`));
  return error instanceof Error && 'code' in error && error.code === 'InvalidOption'
    ? exitCodes.usage
    : exitCodes.failed;
};

/** Flags that the next call needs, too. */
const CARRIED = ['kubeconfig', 'context', 'cluster', 'user', 'server', 'as'] as const;

/** Those that the user gave with this command, by name. */
const carriedFlags = (command: Command): (readonly [flag: string, text: string])[] =>
  CARRIED.flatMap((key) => {
    const value: unknown = command.opts()[key];
    return typeof value === 'string' ? [[`--${key}`, `--${key} ${quoted(value)}`] as const] : [];
  });

/** Runs one command line, without node and script. Resolves with the exit code; never rejects. */
export const runProgram = async (args: readonly string[], options: ProgramOptions): Promise<ExitCode> => {
  const { name, build } = options;
  let code: ExitCode = exitCodes.ok;
  let carried: ReturnType<typeof carriedFlags> = [];
  const io = createIo(options.io, (words, namespace, context) => {
    const [first = ''] = words.split(' ', 1);
    const next = program.commands.find((one) => one.name() === first);
    const place = namespace === undefined ? [] : [['--namespace', `-n ${namespace}`] as const];
    const cluster = context === undefined ? [] : [['--context', `--context ${quoted(context)}`] as const];
    // What it prints goes to the cluster of this call, by flags that kubectl has, too.
    const isPiped = words.includes(' | kubectl ');
    const flags = [...(isPiped ? [] : place), ...cluster, ...carried]
      .filter(([flag]) => isPiped || !next || findOption(next, flag))
      .map(([, text]) => text);
    return [name, words, ...flags].join(' ');
  });
  const program = new Command(name)
    .description('DaemonSet rollouts for machines that come and go')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr })
    .hook('preAction', async (_, command) => {
      carried = carriedFlags(command);
      await loadTemporal();
    });
  build(program, {
    io,
    exit: (wanted) => {
      code = wanted;
    },
  });
  for (const command of [program, ...program.commands]) {
    const help = command === program ? name : `${name} ${command.name()}`;
    command.configureOutput({ outputError: (text) => io.stderr(toMessage(`${name}: ${usageError(text, help)}`)) });
  }
  try {
    if (options.run) await options.run(program, io);
    else await program.parseAsync(flagsAfterCommand(program, args), { from: 'user' });
    return code;
  } catch (error) {
    return reportError(error, io, name);
  }
};
