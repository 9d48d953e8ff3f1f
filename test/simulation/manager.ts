import { createEventRecorder, type KubeClient } from '../../src/kube/index.ts';
import { controllerDefinitions, electByLease, runControllers } from '../../src/manager/index.ts';
import type { Env } from '../../src/runtime/index.ts';

export interface ManagerParts {
  client: KubeClient;
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
  { client, env, identity, controllers }: ManagerParts,
  signal: AbortSignal,
): Promise<void> => {
  const events = createEventRecorder({
    client,
    env,
    reportingController: 'edgeset.io/manager',
    reportingInstance: identity,
  });
  const recording = events.run(signal);
  const made = controllerDefinitions
    .filter(({ name }) => controllers.some((wanted) => wanted === name))
    .map(
      (definition) =>
        [
          definition.name,
          definition.create({ client, env, events, namespaces: undefined, identity, observe: {} }),
        ] as const,
    );
  await runControllers(
    {
      env,
      controllers: new Map(made),
      elect: electByLease({ client, env, identity, onChange: () => undefined }, LEASE),
      settleWithinMs: LEASE.leaseDurationMs - LEASE.renewDeadlineMs,
    },
    signal,
  );
  await recording;
};
