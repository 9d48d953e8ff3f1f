import { addAgentCommand } from './agent.ts';
import {
  addClusterCommand,
  addCompletionCommand,
  addDemoCommand,
  addExplainCommand,
  addHistoryCommand,
  addPauseCommand,
  addPlanCommand,
  addResumeCommand,
  addStatusCommand,
  addUndoCommand,
  addWaitCommand,
  COMPLETE,
} from './commands.ts';
import { addCrdsCommand } from './crds.ts';
import type { ExitCode, Io } from './io.ts';
import { addManagerCommand } from './manager.ts';
import { type AddCommand, runProgram } from './program.ts';

/** How the program was called: kubectl finds plugins by the name of the executable. */
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
      addExplainCommand,
      addPlanCommand,
      addWaitCommand,
      addPauseCommand,
      addResumeCommand,
      addHistoryCommand,
      addUndoCommand,
    ],
  },
  { heading: 'Try it out:', pluginToo: false, commands: [addDemoCommand, addClusterCommand] },
  { heading: 'Install:', pluginToo: true, commands: [addCrdsCommand] },
  { heading: 'Run:', pluginToo: false, commands: [addManagerCommand, addAgentCommand, addCompletionCommand] },
];

/** Runs the command line `args` (without node and script) and resolves with the exit code. Never rejects. */
export const main = (args: readonly string[], io: Io, name: ProgramName = 'edgeset'): Promise<ExitCode> =>
  runProgram(args, {
    name,
    io,
    build(program, context) {
      for (const { heading, commands, pluginToo } of groups) {
        if (name !== 'edgeset' && !pluginToo) continue;
        program.commandsGroup(heading);
        for (const add of commands) add(program, context);
      }
    },
    async run(program) {
      const [first, ...words] = args;
      // Not parsed by commander, which would reject an incomplete command line.
      if (first === COMPLETE) {
        const { printCompletions } = await import('./plugin/completion/complete.ts');
        await printCompletions(program, words, io);
      } else await program.parseAsync(args, { from: 'user' });
    },
  });
