import { OptionError } from '../runtime/index.ts';
import type { AddCommand } from './program.ts';
import { examples } from './usage.ts';

/** The CRDs of each controller, besides the DaemonRollout that all of them write and the plans that all of them read. Loaded on demand. */
const crdsOf: Readonly<Record<string, () => Promise<readonly object[]>>> = {
  native: () => Promise.resolve([]),
  advanced: async () => [(await import('../kinds/advanced/index.ts')).advancedDaemonSetCrd],
};

/** The custom resource definitions that the controllers need, as one YAML stream, formatted as in deploy/crds. */
const renderCrds = async (controllers: string): Promise<string> => {
  const [{ stringify }, { daemonRolloutCrd, planCrds }] = await Promise.all([
    import('yaml'),
    import('../words/index.ts'),
  ]);
  const crds: object[] = [];
  for (const name of new Set(controllers.split(',').map((each) => each.trim()))) {
    const load = Object.hasOwn(crdsOf, name) ? crdsOf[name] : undefined;
    if (!load)
      throw new OptionError('--controllers', `"${name}" is not known: give ${Object.keys(crdsOf).join(' or ')}`);
    crds.push(...(await load()));
  }
  crds.push(daemonRolloutCrd, ...planCrds);
  return crds.map((crd) => stringify(crd, { lineWidth: 120 })).join('---\n');
};

export const addCrdsCommand: AddCommand = (program, { io }) => {
  program
    .command('crds')
    .description('print the custom resource definitions as YAML, for `kubectl apply -f -`')
    .option('--controllers <names>', 'controllers that will run, comma-separated', 'native,advanced')
    .addHelpText(
      'after',
      examples(
        ['crds | kubectl apply -f -', 'Installs them'],
        ['crds --controllers native', 'Without that of Advanced DaemonSets'],
      ),
    )
    .action(async ({ controllers }: { controllers: string }) => {
      io.stdout(await renderCrds(controllers));
    });
};
