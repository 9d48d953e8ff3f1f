import { createEventRecorder, type KubeClient } from '../../../src/kube/index.ts';
import {
  type Controller,
  controllerDefinitions,
  createImageService,
  electByLease,
  runControllers,
} from '../../../src/manager/index.ts';
import type { Env } from '../../../src/runtime/index.ts';

/** What of a manager speaks to the API server. */
export type Part = 'native' | 'advanced' | 'images' | 'process';

export interface ManagerParts {
  clientOf: (part: Part) => KubeClient;
  env: Env;
  /** Unique to this process. */
  identity: string;
  controllers: readonly ('native' | 'advanced')[];
}

/** As the flags' defaults. */
const LEASE = {
  namespace: 'default',
  id: 'edgeset-manager',
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/** The manager as it ships, from the election on: its controllers, caches, queues and Events. Never resolves unless stopped. */
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
    const parts = { client: clientOf(name), env, events, namespaces, identity, observe: {}, images };
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
