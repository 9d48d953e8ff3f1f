import { createCheckRunner } from '../../../src/checks/index.ts';
import { createOrder } from '../../../src/controller/index.ts';
import type { Outgoing } from '../../../src/http/index.ts';
import { createEventRecorder } from '../../../src/kube/index.ts';
import { type Clients, electByLease, runControllers } from '../../../src/leading/index.ts';
import { type Controller, controllerDefinitions, createImageService } from '../../../src/manager/index.ts';
import type { Env } from '../../../src/runtime/index.ts';

/** The parts of a manager that have a client of their own. */
export type Part = 'native' | 'advanced' | 'images' | 'process';

export interface ManagerParts {
  clientsOf: (part: Part) => Clients;
  env: Env;
  /** Unique to this process. */
  identity: string;
  controllers: readonly ('native' | 'advanced')[];
  aheadMs: () => number;
  /** Sends the queries of checks. */
  askPrometheus: Outgoing;
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
  { clientsOf, env, identity, controllers: wanted, aheadMs, askPrometheus }: ManagerParts,
  signal: AbortSignal,
): Promise<void> => {
  const namespaces = undefined;
  const { client, leaseClient } = clientsOf('process');
  const events = createEventRecorder({
    client,
    env,
    reportingController: 'edgeset.io/manager',
    reportingInstance: identity,
  });
  const recording = events.run(signal);
  const rules = { prometheusAddress: 'http://prometheus.example.org:9090', allowedAddresses: [] };
  const runner = createCheckRunner({
    client,
    clock: { ...env.clock, now: () => env.clock.now() - aheadMs() },
    log: env.log,
    ...rules,
    send: askPrometheus,
  });
  const checks = { runner, ownNamespace: 'edgeset-system', rules };
  const order = createOrder(env.clock);
  const controllers = new Map<string, Controller>();
  const images = createImageService({
    client: clientsOf('images').client,
    env,
    namespaces,
    pullsByDefault: false,
    complete: () => [...controllers.values()].every((controller) => controller.synced()),
  });
  for (const name of wanted) {
    const { client: own } = clientsOf(name);
    const parts = { client: own, env, events, namespaces, identity, metrics: {}, images, aheadMs, checks, order };
    for (const definition of controllerDefinitions.filter((each) => each.name === name))
      controllers.set(name, definition.create(parts));
  }
  controllers.set('images', images.controller);
  await runControllers(
    {
      env,
      controllers,
      elect: electByLease({ client: leaseClient, env, identity, onChange: () => undefined }, LEASE),
      settleWithinMs: LEASE.leaseDurationMs - LEASE.renewDeadlineMs,
    },
    signal,
  );
  await recording;
};
