import { createEventRecorder, type KubeClient } from '../../../src/kube/index.ts';
import {
  type Controller,
  controllerDefinitions,
  createImageService,
  electByLease,
  runControllers,
} from '../../../src/manager/index.ts';
import type { Env } from '../../../src/runtime/index.ts';

/** The parts of a manager that have a client of their own. */
export type Part = 'native' | 'advanced' | 'images' | 'process';

export interface ManagerParts {
  clientOf: (part: Part) => KubeClient;
  env: Env;
  /** Unique to this process. */
  identity: string;
  controllers: readonly ('native' | 'advanced')[];
}

/** The defaults of the flags. */
const LEASE = {
  namespace: 'default',
  id: 'edgeset-manager',
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/** The manager as it ships, from the leader election on: controllers, caches, queues and Events. Resolves when stopped. */
export const runManager = async (
  { clientOf, env, identity, controllers: wanted }: ManagerParts,
  signal: AbortSignal,
): Promise<void> => {
  const namespaces = undefined;
  const client = clientOf('process');
  const events = createEventRecorder({
    client,
    env,
    reportingController: 'edgeset.io/manager',
    reportingInstance: identity,
  });
  const recording = events.run(signal);
  const controllers = new Map<string, Controller>();
  const images = createImageService({
    client: clientOf('images'),
    env,
    namespaces,
    pullsByDefault: false,
    complete: () => [...controllers.values()].every((controller) => controller.synced()),
  });
  for (const name of wanted) {
    const parts = { client: clientOf(name), env, events, namespaces, identity, metrics: {}, images };
    for (const definition of controllerDefinitions.filter((each) => each.name === name))
      controllers.set(name, definition.create(parts));
  }
  controllers.set('images', images.controller);
  await runControllers(
    {
      env,
      controllers,
      elect: electByLease({ client, env, identity, onChange: () => undefined }, LEASE),
      settleWithinMs: LEASE.leaseDurationMs - LEASE.renewDeadlineMs,
    },
    signal,
  );
  await recording;
};
