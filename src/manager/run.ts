import { createCheckRunner } from '../checks/index.ts';
import { createOrder } from '../controller/index.ts';
import { createClockSkew, createEventRecorder, loadClusterConfig } from '../kube/index.ts';
import {
  createClients,
  createClockCheck,
  createElection,
  DEFAULT_NAMESPACE,
  type GatedController,
  gateOnDiscovery,
  newIdentity,
  podNamespace,
  runControllers,
  waitForApis,
} from '../leading/index.ts';
import { type Notifications, NotificationsConfigError, openNotifications } from '../notify/index.ts';
import {
  createHealth,
  createProcessLogger,
  type ProgramHost,
  runUntilStopped,
  startEndpoints,
} from '../process/index.ts';
import { type Clock, type Env, loadTemporal, OptionError, steadyClock } from '../runtime/index.ts';
import { controllerDefinitions } from './controllers.ts';
import { createImageService } from './image-service.ts';
import { createManagerMetrics, type ManagerMetrics } from './metrics.ts';
import { type ManagerFlags, type ManagerOptions, resolveManagerOptions } from './options.ts';
import type { Controller, ControllerDefinition } from './types.ts';

export interface ManagerHost extends ProgramHost {
  /**
   * Default: a steady clock, so that setting the machine's clock makes no pod available and no lease expire. A cluster on
   * virtual time needs the manager to use the same clock.
   */
  clock?: Clock;
}

const notificationsOf = async (
  { notificationsConfig: path }: ManagerOptions,
  { version, environment }: ManagerHost,
  env: Env,
  metrics: ManagerMetrics,
): Promise<Notifications | undefined> => {
  if (path === undefined) return undefined;
  const userAgent = `edgeset-manager/${version}`;
  try {
    return await openNotifications({
      path,
      env,
      environment,
      userAgent,
      onResult: (target, result) => metrics.notified(target, result),
    });
  } catch (error) {
    if (error instanceof NotificationsConfigError) throw new OptionError('--notifications-config', error.message);
    throw error;
  }
};

const gated = (controller: GatedController<Controller>): Controller => ({
  ...controller,
  rollouts: () => controller.active()?.rollouts() ?? [],
});

const runManager = async (options: ManagerOptions, host: ManagerHost, env: Env, signal: AbortSignal): Promise<void> => {
  const { log } = env;
  const identity = newIdentity(env.random);
  const metrics = createManagerMetrics(host.version);
  const health = createHealth();
  const notifications = await notificationsOf(options, host, env, metrics);
  const config = await loadClusterConfig({
    kubeconfig: options.kubeconfig,
    context: options.context,
    env: host.environment,
  });
  log.info('starting', { version: host.version, identity, server: config.server, config: config.source });
  const skew = createClockSkew(env.clock);
  const checkClock = createClockCheck('manager', skew, log, (aheadSeconds) => metrics.clockAhead(aheadSeconds));
  const clients = createClients(config, {
    program: 'manager',
    env,
    version: host.version,
    qps: options.qps,
    burst: options.burst,
    onRequest(report) {
      metrics.request(report);
      checkClock(report);
    },
    environment: host.environment,
  });
  const { client, leaseClient } = clients;
  const recorder = createEventRecorder({
    client,
    env,
    reportingController: 'edgeset.io/manager',
    reportingInstance: identity,
  });
  const definitions = options.controllers.flatMap((name) => controllerDefinitions.filter((each) => each.name === name));
  const controllers = new Map<string, Controller>();
  const images = createImageService({
    client,
    env,
    namespaces: options.namespaces,
    pullsByDefault: options.predownload,
    complete: () => [...controllers.values()].every((controller) => controller.synced()),
  });
  const order = createOrder(env.clock);
  const rules = { prometheusAddress: options.prometheusAddress, allowedAddresses: options.allowedCheckAddresses };
  const checkRunner = createCheckRunner({
    client,
    clock: { ...env.clock, now: () => env.clock.now() - skew.aheadMs() },
    log,
    environment: host.environment,
    ...rules,
  });
  const ownNamespace = (await podNamespace()) ?? DEFAULT_NAMESPACE;
  const create = (definition: ControllerDefinition): Controller => {
    const { name, serves } = definition;
    const { namespaces, checksOpenKruiseLease } = options;
    const parts = {
      client,
      env,
      events: recorder,
      namespaces,
      checksOpenKruiseLease,
      identity,
      metrics: metrics.observer(name),
      images,
      notifier: notifications?.notifier,
      order,
      aheadMs: () => skew.aheadMs(),
      firstWave: options.firstWave,
      checks: { runner: checkRunner, ownNamespace, rules },
    };
    const made = (): Controller => definition.create(parts);
    const own = { ...env, log: log.with({ controller: name }) };
    const controller = serves ? gated(gateOnDiscovery(own, client, serves, made)) : made();
    health.check(name, () => (controller.synced() ? undefined : 'its caches have not synced'));
    const lead = async (leading: AbortSignal): Promise<void> => {
      const hide = metrics.showRollouts(name, () => controller.rollouts());
      await controller.lead(leading).finally(hide);
    };
    return { ...controller, lead };
  };
  const { leaderElection } = options;
  const onChange = (leading: boolean): void => metrics.leading(leaderElection?.id ?? '', leading);
  const election = createElection({ client: leaseClient, env, identity, onChange }, leaderElection);

  let missing: string | undefined = 'not checked yet';
  health.check('api', () => missing);
  health.check('running', () => (signal.aborted ? 'stopping' : undefined));
  const recording = new AbortController();
  const recorded = recorder.run(recording.signal);
  const followed = notifications?.run(recording.signal);
  let endpoints: { close(): Promise<void> } | undefined;
  try {
    endpoints = await startEndpoints(log, options, { metrics, health });
    const required = definitions.flatMap(({ requires }) => requires);
    await waitForApis(env, client, required, (what) => (missing = what), signal);
    if (signal.aborted) return;
    for (const definition of definitions) controllers.set(definition.name, create(definition));
    controllers.set('images', images.controller);
    await runControllers({ env, controllers, ...election }, signal);
  } finally {
    // Last: Events about writes that settled during the shutdown.
    recording.abort();
    await Promise.all([recorded, followed]);
    await clients.close();
    await endpoints?.close();
  }
};

/**
 * Runs the manager until a signal stops it. Resolves with the exit code; rejects with an `OptionError` for an invalid
 * flag, before anything starts.
 */
export const runManagerProcess = async (flags: ManagerFlags, host: ManagerHost): Promise<0 | 1> => {
  await loadTemporal();
  const options = resolveManagerOptions(flags, {
    controllers: controllerDefinitions.map(({ name }) => name),
    podNamespace: await podNamespace(),
    terminal: host.terminal,
  });
  const { clock = steadyClock, random } = host;
  const env: Env = { clock, random, log: createProcessLogger(options, host, clock) };
  return runUntilStopped(env, host.process, (signal) => runManager(options, host, env, signal));
};
