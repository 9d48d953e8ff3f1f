import { Command } from 'commander';
import { addAgentCommand } from './agent-command.ts';
import { type ExitCode, exitCodes, reportError } from './exit-code.ts';
import type { Io } from './io.ts';
import { version } from './version.ts';

const NAME = 'edgeset-agent';
const OF_THE_PROGRAM = new Set(['agent', 'help', '-V', '--version']);

/**
 * The command line of the agent alone, as it is bundled for devices: `edgeset-agent [agent] --kubeconfig F ...`. Resolves
 * with the exit code; never rejects.
 */
export const agentMain = async (args: readonly string[], io: Io): Promise<ExitCode> => {
  let code: ExitCode = exitCodes.ok;
  const program = new Command(NAME)
    .version(version)
    // From a checkout it is a part of `edgeset`; `agent` may be left out on a device.
    .configureHelp({ commandUsage: (command) => `${args[0] === 'agent' ? 'edgeset agent' : NAME} ${command.usage()}` })
    .exitOverride()
    .showHelpAfterError('(add --help to see what there is)')
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr });
  addAgentCommand(program, {
    io,
    exit: (wanted) => {
      code = wanted;
    },
  });
  try {
    const named = OF_THE_PROGRAM.has(args[0] ?? '') ? args : ['agent', ...args];
    await program.parseAsync(named, { from: 'user' });
    return code;
  } catch (error) {
    return reportError(error, io.stderr, NAME);
  }
};
