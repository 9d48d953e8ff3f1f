import { Argument } from 'commander';
import type { AddCommand } from '../command.ts';

/** First word of a call that asks for completions: a contract with the scripts and with `kubectl_complete-edgeset`. */
export const COMPLETE = '__complete';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export const addCompletionCommand: AddCommand = (program, { io }) => {
  program
    .command('completion')
    .description('print a script that teaches a shell to complete this command')
    .addArgument(new Argument('<shell>').choices(shells))
    .action(async (shell: Shell) => {
      const { completionScript } = await import('./completion-script.ts');
      io.stdout(completionScript(shell));
    });
};
