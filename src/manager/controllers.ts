import { createNativeController } from '../native/index.ts';
import type { ControllerDefinition } from './controller.ts';

const native: ControllerDefinition = {
  name: 'native',
  requires: [
    {
      group: 'edgeset.io',
      version: 'v1alpha1',
      plural: 'daemonrollouts',
      cure: 'install the CRD with `npx edgeset crds | kubectl apply -f -`',
    },
  ],
  create({ namespaces, ...parts }) {
    const controller = createNativeController({ ...parts, ...(namespaces === undefined ? {} : { namespaces }) });
    return {
      ...controller,
      *rollouts() {
        for (const { namespace, name, ledger } of controller.snapshot()) {
          const { phases } = ledger.tally;
          yield { namespace, name, phases, halted: ledger.state.halted !== undefined };
        }
      },
    };
  },
};

/** Every controller that `--controllers` may name. */
export const controllerDefinitions: readonly ControllerDefinition[] = [native];
