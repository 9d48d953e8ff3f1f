import { advancedDaemonSetApi, createAdvancedKind } from '../advanced/index.ts';
import { createController, type Controller as KindController } from '../controller/index.ts';
import { nativeKind } from '../native/index.ts';
import { createPrefetch } from '../prefetch/index.ts';
import type { ControllerDefinition, Requirement, RolloutCounts } from './controller.ts';

const daemonRollouts: Requirement = {
  group: 'edgeset.io',
  version: 'v1alpha1',
  plural: 'daemonrollouts',
  cure: 'install the CRD with `npx edgeset crds | kubectl apply -f -`',
};

function* countsOf(controller: Pick<KindController, 'snapshot'>): Generator<RolloutCounts> {
  for (const { namespace, name, ledger } of controller.snapshot()) {
    const { phases } = ledger.tally;
    yield { namespace, name, phases, halted: ledger.state.halted !== undefined };
  }
}

const native: ControllerDefinition = {
  name: 'native',
  requires: [daemonRollouts],
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
      rollouts: () => countsOf(controller),
    };
  },
};

const advanced: ControllerDefinition = {
  name: 'advanced',
  requires: [daemonRollouts],
  serves: {
    group: advancedDaemonSetApi.group,
    version: advancedDaemonSetApi.storedVersion,
    plural: advancedDaemonSetApi.plural,
    cure: 'to use Advanced DaemonSets, install the CRD with `npx edgeset crds | kubectl apply -f -`',
  },
  create({ namespaces, ...parts }) {
    const controller = createController(createAdvancedKind(), { ...parts, ...(namespaces && { namespaces }) });
    return { ...controller, rollouts: () => countsOf(controller) };
  },
};

/** Every controller that `--controllers` may name. */
export const controllerDefinitions: readonly ControllerDefinition[] = [native, advanced];
