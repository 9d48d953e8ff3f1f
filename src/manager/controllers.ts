import {
  createController,
  type DaemonSetObject,
  type DaemonSetView,
  type Controller as KindController,
  type ManagedKind,
} from '../controller/index.ts';
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

/** A controller that takes part in the image prefetch. */
const withImages = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  kind: ManagedKind<D, V, P>,
  { images, namespaces, ...common }: ControllerParts,
): Controller => {
  const client: ImageClient | undefined = images?.join({
    node: (name) => controller.node(name),
    serves: (uid) => controller.serves(uid),
  });
  const controller: KindController = createController(kind, {
    ...common,
    ...client?.options,
    ...(namespaces && { namespaces }),
  });
  return {
    ...controller,
    run: (signal) => controller.run(signal).finally(() => client?.leave()),
    rollouts: () => rolloutCounts(controller),
  };
};

const native: ControllerDefinition = {
  name: 'native',
  requires: [daemonRollouts],
  create: (parts) => withImages(nativeKind, parts),
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
  create: (parts) => withImages(createAdvancedKind({ checksLease: parts.checksOpenKruiseLease }), parts),
};

/** Every controller that `--controllers` may name. */
export const controllerDefinitions: readonly ControllerDefinition[] = [native, advanced];
