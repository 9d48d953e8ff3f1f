import {
  type ClientOptions,
  type ClusterConfig,
  type ConfigOverrides,
  createClient,
  type KubeClient,
  loadClusterConfig,
} from '../kube/index.ts';
import { nonEmpty } from '../process/index.ts';
import { type Env, parseDuration, silentLogger, systemClock } from '../runtime/index.ts';
import { toCommandError } from './errors.ts';

/** Flags of every command that connects to a cluster, named as in kubectl. */
export interface ConnectionFlags extends ConfigOverrides {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
  requestTimeout?: string;
}

/**
 * The field manager of the plugin's writes. Flux takes back every field of a manager whose name begins with `kubectl`, and
 * would end a pause at its next interval.
 */
export const FIELD_MANAGER = 'edgeset-cli';

/** Who connects, and from where. */
export interface Caller {
  environment: Readonly<Record<string, string | undefined>>;
  /** Uniform in [0, 1). */
  random: () => number;
  /** The cluster and the user, whatever flags, environment and files say. */
  cluster?: ClusterConfig | undefined;
  /** Of this program. */
  version: string;
  /** How the user calls the command line with these words, as in `resume ds/web`, about this namespace. */
  edgeset: (words: string, namespace?: string) => string;
}

/** The connection of one command. */
export interface Connection {
  client: KubeClient;
  env: Env;
  namespace: string;
  /** For people: the context of the kubeconfig, or the host of the API server. */
  cluster: string;
  /** How the user calls the command line with these words, as in `resume ds/web`: with the namespace of this connection. */
  edgeset: (words: string) => string;
}

/** The words of a command line that installs the CRDs: flags that name the cluster belong to its end, which is kubectl. */
export const INSTALL_CRDS = 'crds | kubectl apply -f -';

/** The user is waiting: report an unreachable server soon. */
const INTERACTIVE = { connectTimeoutMs: 5_000, maxRetries: 2 };

/** As long as a timer can wait. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

const timeoutsOf = ({
  requestTimeout: text,
}: ConnectionFlags): Pick<ClientOptions, 'timeoutMs' | 'connectTimeoutMs'> => {
  if (text === undefined) return {};
  // As in kubectl, zero means that requests do not time out.
  if (/^0+(ms|s|m|h)?$/.test(text)) return { timeoutMs: NO_TIMEOUT_MS };
  const timeoutMs = parseDuration('--request-timeout', text);
  return { timeoutMs, connectTimeoutMs: Math.min(timeoutMs, INTERACTIVE.connectTimeoutMs) };
};

/** What flags, environment and files say of a connection. Throws a `ConfigError` or an `OptionError` that says what is wrong. */
export const connectionSettings = async (flags: ConnectionFlags, caller: Caller) => {
  const timeouts = timeoutsOf(flags);
  const kubeconfig = nonEmpty('--kubeconfig', flags.kubeconfig);
  const context = nonEmpty('--context', flags.context);
  const given = nonEmpty('--namespace', flags.namespace);
  const environment = { ...caller.environment };
  const config =
    caller.cluster ?? (await loadClusterConfig({ kubeconfig, context, overrides: flags, env: environment }));
  return { config, timeouts, environment, namespace: given ?? config.namespace };
};

/** Opens a connection for the duration of `work`. Rejects with a `CommandError` for errors of the API server. */
export const withCluster = async <T>(
  flags: ConnectionFlags,
  caller: Caller,
  work: (connection: Connection) => Promise<T>,
  options: Pick<ClientOptions, 'maxRetries' | 'terminal'> = {},
): Promise<T> => {
  const { config, timeouts, environment, namespace } = await connectionSettings(flags, caller);
  const env: Env = { clock: systemClock, random: caller.random, log: silentLogger };
  const client = createClient(config, {
    env,
    environment,
    userAgent: `kubectl-edgeset/${caller.version}`,
    reload: async () => (await connectionSettings(flags, caller)).config,
    ...INTERACTIVE,
    ...options,
    ...timeouts,
  });
  try {
    return await work({
      client,
      env,
      namespace,
      cluster: config.context ?? new URL(config.server).host,
      edgeset: (words) => caller.edgeset(words, namespace),
    });
  } catch (error) {
    throw toCommandError(error, config);
  } finally {
    await client.close();
  }
};
