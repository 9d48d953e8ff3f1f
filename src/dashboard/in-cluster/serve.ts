import { type ClusterConfig, createClient, loadClusterConfig } from '../../kube/index.ts';
import {
  createHealth,
  createProcessLogger,
  ListenError,
  type ProgramHost,
  runUntilStopped,
  startEndpoints,
} from '../../process/index.ts';
import { type Env, OptionError, sleep, systemClock } from '../../runtime/index.ts';
import type { Connection, Reading } from '../../view/index.ts';
import { runCommand } from '../commands.ts';
import { inNamespace, kubectlEdgeset } from '../edgeset-in.ts';
import { rolloutEvents } from '../events.ts';
import { createFleet, type Fleet, type FleetOptions } from '../fleet.ts';
import { nodeDetails } from '../node-details.ts';
import type { RolloutFeed } from '../rollout-feed.ts';
import { startDashboardServer } from '../server.ts';
import { createCallers } from './callers.ts';
import { mergeOverviews } from './merge-overviews.ts';
import { createDashboardMetrics } from './metrics.ts';
import { resolveServeOptions, type ServeFlags, type ServeOptions } from './options.ts';
import { createReviews } from './reviews.ts';
import { createSessions } from './sessions.ts';
import { createTokenGate, type OwnRights } from './token-gate.ts';

const RETRY_MS = 2_000;
const REVIEW_EVERY_MS = 60_000;
/** What a caller's own request may take: a page is waiting. */
const OWN_LIMITS = { timeoutMs: 20_000, connectTimeoutMs: 5_000, maxRetries: 1 } as const;

/** The same cluster, as somebody else: nothing of the dashboard's own credentials is left. */
const asCaller = (config: ClusterConfig, token: string): ClusterConfig => {
  const { auth: _own, impersonate: _nobody, ...cluster } = config;
  return { ...cluster, auth: { token: { from: 'text', text: token } } };
};

const ownRightsOf =
  (
    config: ClusterConfig,
    env: Env,
    userAgent: string,
    { random, version }: Pick<ProgramHost, 'random' | 'version'>,
  ): OwnRights =>
  (token) => {
    const read = async <T>(
      feed: RolloutFeed,
      namespace: string,
      work: (connection: Connection, reading: Reading) => Promise<T>,
    ): Promise<T | undefined> => {
      const reading = feed.reading();
      if (!reading) return undefined;
      const client = createClient(asCaller(config, token), { env, userAgent, ...OWN_LIMITS });
      try {
        return await work(inNamespace({ client, env, cluster: '', edgeset: kubectlEdgeset }, namespace), reading);
      } finally {
        await client.close();
      }
    };
    return {
      node: (feed, { namespace }, node) =>
        read(feed, namespace, (connection, reading) => nodeDetails(connection, reading, node)),
      events: (feed, { namespace }) => read(feed, namespace, rolloutEvents),
      run: (request) => {
        const cluster = asCaller(config, token);
        return runCommand(request, {}, { random, version, environment: {}, cluster, edgeset: kubectlEdgeset });
      },
    };
  };

type SharedFleet = Pick<Fleet, 'overview' | 'rollout' | 'labels' | 'trouble' | 'close'>;

/** What all callers share: read once for all of them, with the dashboard's rights. */
const createSharedFleet = (
  connection: FleetOptions['connection'],
  namespaces: readonly string[] | undefined,
): SharedFleet => {
  const run = () => Promise.reject(new Error('the dashboard runs no command of its own: this is a bug'));
  const fleets = (namespaces ?? [undefined]).map((namespace) =>
    createFleet({ connection, namespace, edgeset: kubectlEdgeset, run }),
  );
  const [first] = fleets;
  if (!first) throw new Error('list() lets no empty list pass: this is a bug');
  return {
    overview: async () => mergeOverviews(await Promise.all(fleets.map((fleet) => fleet.overview()))),
    // Which one follows a rollout, and watches the nodes for it, does not matter: it must be the same one.
    rollout: (ref) => first.rollout(ref),
    labels: (key) => first.labels(key),
    trouble: () => fleets.map((fleet) => fleet.trouble()).find((text) => text !== '') ?? '',
    close: async () => void (await Promise.all(fleets.map((fleet) => fleet.close()))),
  };
};

/** Reads the rollouts, again and again until the API server can be reached. */
const openOverview = async (fleet: SharedFleet, { clock, log }: Env, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    try {
      await fleet.overview();
      log.info('watching the rollouts');
      return;
    } catch (error) {
      log.warn('failed to read the rollouts; retrying', { error, retryMs: RETRY_MS });
    }
    await sleep(clock, RETRY_MS, signal).catch(() => undefined);
  }
};

const serve = async (
  options: ServeOptions,
  flags: ServeFlags,
  host: ProgramHost,
  env: Env,
  signal: AbortSignal,
): Promise<void> => {
  const { log, clock } = env;
  const { listen, tls, sites, namespaces, isProxy } = options;
  const { kubeconfig, context } = flags;
  const config = await loadClusterConfig({ kubeconfig, context, overrides: flags, env: host.environment });
  if (config.impersonate)
    throw new OptionError('--kubeconfig', 'impersonates a user, which --listen does not allow: use another user');
  const userAgent = `edgeset-dashboard/${host.version}`;
  log.info('starting', { version: host.version, server: config.server, config: config.source });
  const metrics = createDashboardMetrics(host.version, clock);
  const client = createClient(config, {
    env,
    userAgent,
    environment: { ...host.environment },
    onRequest: (report) => metrics.requested(report),
  });
  const sessions = createSessions(clock);
  const fleet = createSharedFleet({ client: metrics.counting(client), env, cluster: '' }, namespaces);
  const gate = createTokenGate({
    env,
    fleet,
    callers: createCallers(createReviews(client), clock),
    sessions,
    ownRights: ownRightsOf(config, env, userAgent, host),
    sites,
    namespaces,
    isProxy,
  });
  const health = createHealth();
  let isReading = true;
  health.check('running', () => (signal.aborted ? 'stopping' : undefined));
  health.check('rollouts', () => (isReading ? 'the rollouts have not been read yet' : undefined));
  const closers: (() => Promise<void>)[] = [];
  try {
    const server = await startDashboardServer({
      env,
      listen,
      tls,
      gate,
      isProxy,
      trouble: () => fleet.trouble(),
      responded: (status) => metrics.responded(status),
      page: async () => (await import('#fleet-page')).fleetPage(),
      toListenError: (address, cause) => new ListenError(address, '--listen', cause),
    });
    closers.push(() => server.close());
    log.info('serving the dashboard', { port: server.port, tls: tls !== undefined });
    metrics.show({ server, sessions });
    const endpoints = await startEndpoints(log, options, { health, metrics });
    closers.push(() => endpoints.close());
    await openOverview(fleet, env, signal);
    isReading = false;
    while (!signal.aborted) {
      await sleep(clock, REVIEW_EVERY_MS, signal).catch(() => undefined);
      if (!signal.aborted) await gate.review();
    }
  } finally {
    await Promise.all(closers.map((close) => close()));
    await fleet.close();
    await client.close();
  }
};

/** Serves the dashboard to everybody who has a token, until a signal stops it. Resolves with the exit code. */
export const serveDashboard = async (flags: ServeFlags, host: ProgramHost): Promise<0 | 1> => {
  const options = resolveServeOptions(flags, host);
  const env: Env = { clock: systemClock, random: host.random, log: createProcessLogger(options, host, systemClock) };
  return runUntilStopped(env, host.process, (signal) => serve(options, flags, host, env, signal));
};
