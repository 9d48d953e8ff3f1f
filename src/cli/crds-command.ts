import type { AddCommand } from './command.ts';

export const addCrdsCommand: AddCommand = (program, { io }) => {
  program
    .command('crds')
    .description('print the custom resource definitions as YAML, for `kubectl apply -f -`')
    .action(async () => {
      const { renderCrds } = await import('./crds.ts');
      io.stdout(renderCrds());
    });
};
