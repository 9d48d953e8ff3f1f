import { createClient, createEventRecorder, loadClusterConfig } from '../kube/index.ts';
import {
  createHealth,
  createProcessLogger,
  type HostProcess,
  runUntilStopped,
  startEndpoints,
} from '../process/index.ts';
import { type Clock, type Env, systemClock, untilAborted } from '../runtime/index.ts';
import { createAgent } from './agent.ts';
import { openTokenFile, type TokenFile } from './auth/index.ts';
import { createClockSkew } from './clock-skew.ts';
import { openDecisionStore } from './decisions/index.ts';
import { createAgentServer, loadOwnerPage } from './http/index.ts';
import { createImagePulls } from './images/index.ts';
import { createAgentMetrics } from './metrics.ts';
import { type AgentFlags, type AgentOptions, resolveAgentOptions } from './options.ts';
import { createSafeCheck } from './safe-check/index.ts';

/** The process that the agent is run by. */
export interface AgentHost {
  /** Of the product, for the User-Agent, metrics and the API's description. */
  version: string;
  stderr: (text: string) => void;
  /** stderr is a person's terminal. */
  terminal: boolean;
  environment: Readonly<Record<string, string | undefined>>;
  /** Uniform in [0, 1). */
  random: () => number;
  /** Default: the machine's. */
  clock?: Clock;
  process: HostProcess;
}

// One node's worth: a burst is the owner's decisions and the Events about them, not a fleet.
const QPS = 10;
const BURST = 20;

const runAgent = async (
  options: AgentOptions,
  tokens: TokenFile | undefined,
  host: AgentHost,
  env: Env,
  signal: AbortSignal,
): Promise<void> => {
  const { log } = env;
  const { node, stateDir, timeZone, namespaces, criSocket, allowedUids } = options;
  const metrics = createAgentMetrics(host.version);
  const health = createHealth();
  const serverTime = createClockSkew(env.clock);
  // Files alone are read here: an agent must start without an API server.
  const config = await loadClusterConfig({
    kubeconfig: options.kubeconfig,
    context: options.context,
    env: host.environment,
  });
  log.info('starting', { version: host.version, node, server: config.server, config: config.source });
  const client = createClient(config, {
    env,
    userAgent: `edgeset-agent/${host.version}`,
    qps: QPS,
    burst: BURST,
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
  if (decisions.damage !== undefined) log.error('the decisions on the disk were damaged', { damage: decisions.damage });
  const images = createImagePulls({ client, env, criSocket });
  const safe = createSafeCheck({ check: options.safeCheck, env });
  const agent = createAgent({
    client,
    env,
    events,
    node,
    stateDir,
    timeZone,
    safe,
    images,
    decisions,
    aheadMs: () => serverTime.aheadMs(),
    ...(namespaces && { namespaces }),
  });

  const acting = new AbortController();
  const recording = new AbortController();
  const closers: (() => Promise<void>)[] = [];
  let running: Promise<unknown> = Promise.resolve();
  let recorded: Promise<void> = Promise.resolve();
  try {
    const server = await createAgentServer({
      backend: agent,
      env,
      listen: options.listen,
      auth: { allowedUids, tokens },
      page: loadOwnerPage,
      version: host.version,
      onResponse: (status, refusal) => metrics.response(status, refusal),
    });
    closers.push(() => server.close());
    metrics.show({ backend: agent, server });
    if (server.address !== undefined) log.info('serving the API', { address: server.address });
    const { unixSocket } = options.listen;
    if (unixSocket !== undefined) log.info('serving the API on a Unix socket', { path: unixSocket });
    health.check('running', () => (signal.aborted ? 'stopping' : undefined));
    health.check('pods', () => (agent.device().lastContact === null ? 'the API server was never reached' : undefined));
    const endpoints = await startEndpoints(log, options, { metrics, health });
    closers.push(() => endpoints.close());
    recorded = events.run(recording.signal);
    running = Promise.all([agent.run(acting.signal), images.run(acting.signal)]);
    await Promise.race([untilAborted(signal), running]);
    if (!signal.aborted) throw new Error('a part of the agent ended by itself: this is a defect');
  } finally {
    // Callers first, so that whoever was told of an act gets its end; then what acts, its last words, and the disk.
    await Promise.all(closers.map((close) => close()));
    acting.abort();
    await running.catch(() => undefined);
    recording.abort();
    await recorded;
    await client.close();
    await decisions.close();
  }
};

/**
 * Runs the agent until a signal stops it. Resolves with the exit code; rejects with an `OptionError` when a flag has a
 * bad value.
 */
export const runAgentProcess = async (flags: AgentFlags, host: AgentHost): Promise<0 | 1> => {
  const options = resolveAgentOptions(flags, { environment: host.environment, terminal: host.terminal });
  const { clock = systemClock, random } = host;
  const env: Env = { clock, random, log: createProcessLogger(options, host, clock) };
  return runUntilStopped(env, host.process, (signal) => {
    const tokens = options.tokenFile === undefined ? undefined : openTokenFile(options.tokenFile, env.log);
    return runAgent(options, tokens, host, env, signal);
  });
};
