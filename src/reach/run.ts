import { createClockSkew, type KubeObject, loadClusterConfig } from '../kube/index.ts';
import {
  createClients,
  createClockCheck,
  createElection,
  gateOnDiscovery,
  newIdentity,
  podNamespace,
  runControllers,
} from '../leading/index.ts';
import {
  createHealth,
  createProcessLogger,
  type ProgramHost,
  runUntilStopped,
  startEndpoints,
} from '../process/index.ts';
import { type Env, steadyClock } from '../runtime/index.ts';
import { createReachController } from './controller.ts';
import { createFleetKind } from './fleet.ts';
import type { ClusterKind, ClusterReading } from './kind.ts';
import { createReachMetrics } from './metrics.ts';
import { ocm } from './ocm.ts';
import { type ReachFlags, type ReachOptions, resolveReachOptions } from './options.ts';

const runReach = async (options: ReachOptions, host: ProgramHost, env: Env, signal: AbortSignal): Promise<void> => {
  const { log } = env;
  const { kubeconfig, context, leaderElection, terms } = options;
  const identity = newIdentity(env.random);
  const metrics = createReachMetrics(host.version);
  const health = createHealth();
  const config = await loadClusterConfig({ kubeconfig, context, env: host.environment });
  log.info('starting', { version: host.version, identity, server: config.server, config: config.source });
  const skew = createClockSkew(env.clock);
  const onRequest = createClockCheck('process', skew, log, (seconds) => metrics.clockAhead(seconds));
  const { version, environment } = host;
  const clients = createClients(config, { program: 'reach', version, env, environment, onRequest });
  const { client, leaseClient } = clients;

  const create = <T extends KubeObject, R extends ClusterReading>(kind: ClusterKind<T, R>) => {
    const { name, api } = kind;
    const own = { ...env, log: log.with({ kind: name }) };
    const controller = gateOnDiscovery(own, client, api, () =>
      createReachController(kind, { client, env, terms, metrics, aheadMs: () => skew.aheadMs() }),
    );
    health.check(name, () => (controller.synced() ? undefined : 'its cache has not synced'));
    const lead = async (leading: AbortSignal): Promise<void> => {
      const hide = metrics.showClusters(name, () => controller.active()?.verdicts() ?? []);
      await controller.lead(leading).finally(hide);
    };
    return [name, { ...controller, lead }] as const;
  };
  const controllers = new Map([create(ocm), create(createFleetKind(options.fleet))]);
  health.check('running', () => (signal.aborted ? 'stopping' : undefined));
  const onChange = (leading: boolean): void => metrics.leading(leaderElection?.id ?? '', leading);
  const election = createElection({ client: leaseClient, env, identity, onChange }, leaderElection);
  let endpoints: { close(): Promise<void> } | undefined;
  try {
    endpoints = await startEndpoints(log, options, { metrics, health });
    await runControllers({ env, controllers, ...election }, signal);
  } finally {
    await clients.close();
    await endpoints?.close();
  }
};

/**
 * Keeps the label `edgeset.io/reach` of a hub's clusters until a signal stops it. Resolves with the exit code; rejects with an
 * `OptionError` for an invalid flag, before anything starts.
 */
export const runReachProcess = async (flags: ReachFlags, host: ProgramHost): Promise<0 | 1> => {
  const options = resolveReachOptions(flags, { podNamespace: await podNamespace(), terminal: host.terminal });
  const env: Env = { clock: steadyClock, random: host.random, log: createProcessLogger(options, host, steadyClock) };
  return runUntilStopped(env, host.process, (signal) => runReach(options, host, env, signal));
};
