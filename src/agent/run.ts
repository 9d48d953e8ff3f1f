import { createClient, createClockSkew, createEventRecorder, loadClusterConfig } from '../kube/index.ts';
import {
  createHealth,
  createProcessLogger,
  type ProgramHost,
  runUntilStopped,
  startEndpoints,
} from '../process/index.ts';
import { type Clock, type Env, loadTemporal, systemClock, untilAborted } from '../runtime/index.ts';
import { createAgent } from './agent.ts';
import { openTokenFile, type TokenFile } from './auth/index.ts';
import { openDecisionStore } from './decisions/index.ts';
import { createRestriction } from './executor/index.ts';
import { createAgentServer } from './http/index.ts';
import { createAgentMetrics } from './metrics.ts';
import { type AgentFlags, type AgentOptions, resolveAgentOptions } from './options.ts';
import { createSafeCheck } from './safe-check/index.ts';

export interface AgentHost extends ProgramHost {
  /** Default: the system clock. */
  clock?: Clock;
}

export const clientLimits = {
  // Enough for one node: a burst is the owner's decisions and their Events.
  qps: 10,
  burst: 20,
  // TCP and TLS take two round trips, of 3 s on cellular links, and longer if a packet is lost.
  connectTimeoutMs: 20_000,
  // Of a response: pods of one node are read in smaller pages if they take more.
  maxBodyBytes: 16 * 1024 * 1024,
} as const;

const runAgent = async (
  options: AgentOptions,
  tokens: TokenFile | undefined,
  host: AgentHost,
  env: Env,
  signal: AbortSignal,
): Promise<void> => {
  const { log } = env;
  const { node, stateDir, timeZone, namespaces, readNode, allowedUids } = options;
  const metrics = createAgentMetrics(host.version);
  const health = createHealth();
  const serverTime = createClockSkew(env.clock);
  // Only reads files: the agent must start without an API server.
  const config = await loadClusterConfig({
    kubeconfig: options.kubeconfig,
    context: options.context,
    env: host.environment,
  });
  log.info('starting', { version: host.version, node, server: config.server, config: config.source });
  const client = createClient(config, {
    env,
    userAgent: `edgeset-agent/${host.version}`,
    ...clientLimits,
    onRequest(report) {
      metrics.request(report);
      serverTime.observe(report);
    },
    environment: host.environment,
  });
  const events = createEventRecorder({
    client,
    env,
    reportingController: 'edgeset.io/agent',
    reportingInstance: node.slice(0, 128),
  });
  const decisions = await openDecisionStore({ dir: stateDir, env });
  if (decisions.damage !== undefined) log.error('the saved decisions are damaged', { damage: decisions.damage });
  const safe = createSafeCheck({ check: options.safeCheck, env });
  const restriction = createRestriction({ client, env });
  const agent = createAgent({
    client,
    env,
    events,
    node,
    stateDir,
    timeZone,
    safe,
    restriction,
    readNode,
    decisions,
    aheadMs: () => serverTime.aheadMs(),
    ...(namespaces && { namespaces }),
  });

  const running = new AbortController();
  const recording = new AbortController();
  const closers: (() => Promise<void>)[] = [];
  let agentDone: Promise<void> = Promise.resolve();
  let eventsDone: Promise<void> = Promise.resolve();
  try {
    const server = await createAgentServer({
      backend: agent,
      env,
      listen: options.listen,
      auth: { allowedUids, tokens },
      // The build decides what this is: the built page in a bundle, its sources in a checkout.
      page: async () => (await import('#owner-page')).ownerPage(),
      version: host.version,
      onResponse: (status, refusal) => metrics.response(status, refusal),
    });
    closers.push(() => server.close());
    metrics.show({ backend: agent, server, restriction });
    if (server.address !== undefined) log.info('serving the API', { address: server.address });
    const { unixSocket } = options.listen;
    if (unixSocket !== undefined) log.info('serving the API on a Unix socket', { path: unixSocket });
    health.check('running', () => (signal.aborted ? 'stopping' : undefined));
    health.check('pods', () => (agent.device().lastContact === null ? 'never connected to the API server' : undefined));
    const endpoints = await startEndpoints(log, options, { metrics, health });
    closers.push(() => endpoints.close());
    eventsDone = events.run(recording.signal);
    agentDone = agent.run(running.signal);
    await Promise.race([untilAborted(signal), agentDone]);
    if (!signal.aborted) throw new Error('a part of the agent stopped unexpectedly: this is a bug');
  } finally {
    // The servers first, so that callers get their responses; then the agent, its Events, and the disk.
    await Promise.all(closers.map((close) => close()));
    running.abort();
    await agentDone.catch(() => undefined);
    recording.abort();
    await eventsDone;
    await client.close();
    await decisions.close();
  }
};

/**
 * Runs the agent until a signal stops it. Resolves with the exit code; rejects with an `OptionError` when a flag is invalid.
 */
export const runAgentProcess = async (flags: AgentFlags, host: AgentHost): Promise<0 | 1> => {
  await loadTemporal();
  const options = resolveAgentOptions(flags, { environment: host.environment, terminal: host.terminal });
  const { clock = systemClock, random } = host;
  const env: Env = { clock, random, log: createProcessLogger(options, host, clock) };
  return runUntilStopped(env, host.process, (signal) => {
    const tokens = options.tokenFile === undefined ? undefined : openTokenFile(options.tokenFile, env.log);
    return runAgent(options, tokens, host, env, signal);
  });
};
