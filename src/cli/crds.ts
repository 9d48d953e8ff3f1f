import { stringify } from 'yaml';
import { daemonRolloutCrd } from '../rollout/index.ts';
import { OptionError } from '../runtime/index.ts';

/** What each controller serves, besides the rollout objects that all of them write; loaded when it is asked for. */
const served: Readonly<Record<string, () => Promise<readonly object[]>>> = {
  native: () => Promise.resolve([]),
  advanced: async () => [(await import('../advanced/index.ts')).advancedDaemonSetCrd],
};

/** The custom resource definitions that the controllers need, as one YAML stream, in the form of the files in deploy/crds. */
export const renderCrds = async (controllers: string): Promise<string> => {
  const crds: object[] = [];
  for (const name of new Set(controllers.split(',').map((each) => each.trim()))) {
    const load = Object.hasOwn(served, name) ? served[name] : undefined;
    if (!load)
      throw new OptionError('--controllers', `"${name}" is not known: give ${Object.keys(served).join(' or ')}`);
    crds.push(...(await load()));
  }
  crds.push(daemonRolloutCrd);
  return crds.map((crd) => stringify(crd, { lineWidth: 120 })).join('---\n');
};
