import { addAgentCommand } from './agent-command.ts';
import { addClusterCommand } from './cluster-command.ts';
import type { AddCommand } from './command.ts';
import { addCrdsCommand } from './crds-command.ts';
import { addDemoCommand } from './demo-command.ts';
import type { ExitCode } from './exit-code.ts';
import type { Io } from './io.ts';
import { addManagerCommand } from './manager-command.ts';
import { addCompletionCommand, COMPLETE } from './plugin/completion-command.ts';
import { addPauseCommand, addResumeCommand } from './plugin/control-commands.ts';
import { addExplainCommand } from './plugin/explain-command.ts';
import { addHistoryCommand } from './plugin/history-command.ts';
import { addPlanCommand } from './plugin/plan-command.ts';
import { addStatusCommand } from './plugin/status-command.ts';
import { addUndoCommand } from './plugin/undo-command.ts';
import { addWaitCommand } from './plugin/wait-command.ts';
import { runProgram } from './program.ts';

/** How the program was called: kubectl finds its plugins by their name. */
export type ProgramName = 'edgeset' | 'kubectl edgeset';

interface CommandGroup {
  heading: string;
  commands: readonly AddCommand[];
  /** What only makes sense where the product itself is run. */
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
  { heading: 'Trying out:', pluginToo: false, commands: [addDemoCommand, addClusterCommand] },
  { heading: 'Installing:', pluginToo: true, commands: [addCrdsCommand] },
  { heading: 'Running:', pluginToo: false, commands: [addManagerCommand, addAgentCommand, addCompletionCommand] },
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
      // Not for commander: the words are half of a command line, which it would complain of.
      if (first === COMPLETE) {
        const { printCompletions } = await import('./plugin/complete.ts');
        await printCompletions(program, words, io);
      } else await program.parseAsync(args, { from: 'user' });
    },
  });
