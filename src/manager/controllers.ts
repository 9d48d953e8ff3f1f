import { advancedDaemonSetApi, createAdvancedKind } from '../advanced/index.ts';
import { type ControllerOptions, createController, type Controller as KindController } from '../controller/index.ts';
import { nativeKind } from '../native/index.ts';
import type { ImageService } from './image-service.ts';
import type { Controller, ControllerDefinition, ControllerParts, RequiredApi, RolloutCounts } from './types.ts';

const daemonRollouts: RequiredApi = {
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

const common = ({ client, env, events, identity, metrics }: ControllerParts): ControllerOptions => ({
  client,
  env,
  events,
  identity,
  metrics,
});

/** A controller that takes part in the image prefetch. */
const withImages = (
  { images, namespaces }: Pick<ControllerParts, 'images' | 'namespaces'>,
  create: (options: ReturnType<ImageService['join']>['options'] & { namespaces?: readonly string[] }) => KindController,
): Controller => {
  const client = images?.join({
    nodeReady: (node) => controller.nodeReady(node),
    serves: (uid) => controller.serves(uid),
  });
  const controller = create({ ...client?.options, ...(namespaces && { namespaces }) });
  return {
    ...controller,
    run: (signal) => controller.run(signal).finally(() => client?.leave()),
    rollouts: () => countsOf(controller),
  };
};

const native: ControllerDefinition = {
  name: 'native',
  requires: [daemonRollouts],
  create: (parts) => withImages(parts, (options) => createController(nativeKind, { ...common(parts), ...options })),
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
  create: (parts) =>
    withImages(parts, (options) => createController(createAdvancedKind(), { ...common(parts), ...options })),
};

/** Every controller that `--controllers` may name. */
export const controllerDefinitions: readonly ControllerDefinition[] = [native, advanced];
