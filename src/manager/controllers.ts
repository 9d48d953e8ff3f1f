import { type ControllerOptions, createController, type Controller as KindController } from '../controller/index.ts';
import { advancedDaemonSetApi, createAdvancedKind } from '../kinds/advanced/index.ts';
import { nativeKind } from '../kinds/native/index.ts';
import type { RequiredApi } from '../leading/index.ts';
import { countsOf, stagesOf } from '../rollout/index.ts';
import type { Controller, ControllerDefinition, ControllerParts, ImageClient, RolloutCounts } from './types.ts';

const daemonRollouts: RequiredApi = {
  group: 'edgeset.io',
  version: 'v1alpha1',
  plural: 'daemonrollouts',
  remedy: 'install the CRD with `npx edgeset crds | kubectl apply -f -`',
};

function* rolloutCounts(controller: Pick<KindController, 'snapshot'>): Generator<RolloutCounts> {
  for (const { ledger, hasError, ...snapshot } of controller.snapshot()) {
    if (hasError) {
      const { namespace, name, reconciledAt } = snapshot;
      yield { namespace, name, reconciledAt, hasError };
      continue;
    }
    const { tally, policy } = ledger;
    const { phases, causes } = countsOf(ledger, snapshot.summary);
    const { halted, startedAt, finishedAt } = ledger.state;
    yield {
      ...snapshot,
      hasError,
      phases,
      causes,
      stages: snapshot.summary ? stagesOf(ledger, snapshot.summary) : [],
      halted: halted !== undefined,
      startedAt,
      finishedAt,
      ownersAsked: policy.strategy === 'ota' ? tally.ownersAsked : undefined,
    };
  }
}

const common = ({
  client,
  env,
  events,
  identity,
  metrics,
  notifier,
  checks,
  order,
  aheadMs,
  firstWave,
}: ControllerParts): ControllerOptions => ({
  client,
  env,
  events,
  identity,
  metrics,
  notifier,
  checks,
  order,
  aheadMs,
  firstWave,
});

/** A controller that takes part in the image prefetch. */
const withImages = (
  { images, namespaces }: Pick<ControllerParts, 'images' | 'namespaces'>,
  create: (options: ImageClient['options'] & { namespaces?: readonly string[] }) => KindController,
): Controller => {
  const client = images?.join({
    node: (name) => controller.node(name),
    serves: (uid) => controller.serves(uid),
  });
  const controller = create({ ...client?.options, ...(namespaces && { namespaces }) });
  return {
    ...controller,
    run: (signal) => controller.run(signal).finally(() => client?.leave()),
    rollouts: () => rolloutCounts(controller),
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
    remedy: 'to use Advanced DaemonSets, install the CRD with `npx edgeset crds | kubectl apply -f -`',
  },
  create(parts) {
    const kind = createAdvancedKind({ checksLease: parts.checksOpenKruiseLease });
    return withImages(parts, (options) => createController(kind, { ...common(parts), ...options }));
  },
};

/** Every controller that `--controllers` may name. */
export const controllerDefinitions: readonly ControllerDefinition[] = [native, advanced];
