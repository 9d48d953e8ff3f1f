import type { AddCommand } from './command.ts';

export const addCrdsCommand: AddCommand = (program, { io }) => {
  program
    .command('crds')
    .description('print the custom resource definitions as YAML, for `kubectl apply -f -`')
    .option('--controllers <names>', 'of the controllers that are to run, with commas between them', 'native,advanced')
    .action(async ({ controllers }: { controllers: string }) => {
      const { renderCrds } = await import('./crds.ts');
      io.stdout(await renderCrds(controllers));
    });
};
