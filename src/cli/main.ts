import { addAgentCommand } from './agent.ts';
import {
  addCompletionCommand,
  addDashboardCommand,
  addExplainCommand,
  addGetCommand,
  addHistoryCommand,
  addPauseCommand,
  addPlanCommand,
  addResumeCommand,
  addSetCommand,
  addStatusCommand,
  addUndoCommand,
  addWaitCommand,
} from './commands.ts';
import { addCrdsCommand } from './crds.ts';
import { addOptionsCommand } from './flags.ts';
import type { ExitCode, ProcessIo } from './io.ts';
import { addManagerCommand } from './manager.ts';
import { type AddCommand, COMPLETE, runProgram } from './program.ts';
import { addReachCommand } from './reach.ts';
import { addApproveCommand, addPromoteCommand } from './stage-commands.ts';
import { addClusterCommand, addDemoCommand } from './try-out.ts';

/** The program that was started: kubectl finds plugins by the name of the executable. */
export type ProgramName = 'edgeset' | 'kubectl edgeset';

interface CommandGroup {
  heading: string;
  commands: readonly AddCommand[];
  /** Whether the kubectl plugin has these commands, too. */
  pluginToo: boolean;
}

const groups: readonly CommandGroup[] = [
  {
    heading: 'Rollouts:',
    pluginToo: true,
    commands: [
      addStatusCommand,
      addGetCommand,
      addDashboardCommand,
      addExplainCommand,
      addPlanCommand,
      addWaitCommand,
      addPauseCommand,
      addResumeCommand,
      addSetCommand,
      addApproveCommand,
      addPromoteCommand,
      addHistoryCommand,
      addUndoCommand,
    ],
  },
  { heading: 'Try it out:', pluginToo: false, commands: [addDemoCommand, addClusterCommand] },
  { heading: 'Install:', pluginToo: true, commands: [addCrdsCommand, addOptionsCommand] },
  {
    heading: 'Run:',
    pluginToo: false,
    commands: [addManagerCommand, addReachCommand, addAgentCommand, addCompletionCommand],
  },
];

/** Set by `npx`, and by `npm run demo` in a checkout, where `npx` finds the program, too. */
const isNpx = ({ environment: { npm_command: command } }: ProcessIo): boolean =>
  command === 'exec' || command === 'run-script';

/** Runs the command line `args` (without node and script) and resolves with the exit code. Never rejects. */
export const main = (args: readonly string[], io: ProcessIo, program: ProgramName = 'edgeset'): Promise<ExitCode> => {
  const [first, ...words] = args;
  return runProgram(args, {
    name: program === 'edgeset' && isNpx(io) ? 'npx edgeset' : program,
    io,
    build(root, context) {
      for (const { heading, commands, pluginToo } of groups) {
        if (program !== 'edgeset' && !pluginToo) continue;
        root.commandsGroup(heading);
        for (const add of commands) add(root, context);
      }
      root.addHelpText(
        'after',
        `\nFlags may stand before or after the command. "${root.name()} COMMAND --help" lists them, with examples;` +
          `\n"${root.name()} options" lists those that choose the cluster and the user.`,
      );
    },
    // Not parsed by commander, which would reject an incomplete command line.
    run:
      first === COMPLETE
        ? async (root, printer) => {
            const { printCompletions } = await import('./plugin/completion/complete.ts');
            await printCompletions(root, words, printer);
          }
        : undefined,
  });
};

/** Prints how a command line of the kubectl plugin can continue. */
export const complete = (words: readonly string[], io: ProcessIo): Promise<ExitCode> =>
  // A shell that completes shows what is on stderr in the middle of the user's line.
  main([COMPLETE, ...words], { ...io, stderr: () => undefined }, 'kubectl edgeset');
