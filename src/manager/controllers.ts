import { createController } from '../controller/index.ts';
import { nativeKind } from '../native/index.ts';
import { createPrefetch } from '../prefetch/index.ts';
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
    const prefetch = createPrefetch({
      client: parts.client,
      env: parts.env,
      namespaces,
      cluster: { nodeReady: (node) => controller.nodeReady(node), complete: () => controller.synced() },
    });
    const controller = createController(nativeKind, {
      ...parts,
      images: prefetch.requests,
      ...(namespaces === undefined ? {} : { namespaces }),
    });
    return {
      ...controller,
      run: async (signal) => void (await Promise.all([controller.run(signal), prefetch.run(signal)])),
      lead: async (signal) => void (await Promise.all([controller.lead(signal), prefetch.lead(signal)])),
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
