import {
  type ClientOptions,
  createClient,
  type KubeClient,
  type KubeObject,
  type ListOptions,
  type ListResult,
  loadClusterConfig,
  type Resource,
} from '../../kube/index.ts';
import { type Env, silentLogger, systemClock } from '../../runtime/index.ts';
import type { ConnectionFlags } from '../commands.ts';
import type { Io } from '../io.ts';
import { version } from '../version.ts';
import { toCommandError } from './errors.ts';

/** The field manager of the plugin's writes. */
export const FIELD_MANAGER = 'kubectl-edgeset';

/** The connection of one command. */
export interface Connection {
  client: KubeClient;
  env: Env;
  namespace: string;
}

/** The user is waiting: report an unreachable server soon. */
const INTERACTIVE = { connectTimeoutMs: 5_000, maxRetries: 2 };

/** Opens a connection for the duration of `work`. Rejects with a `CommandError` for errors of the API server. */
export const withCluster = async <T>(
  flags: ConnectionFlags,
  io: Io,
  work: (connection: Connection) => Promise<T>,
  options: Pick<ClientOptions, 'connectTimeoutMs' | 'maxRetries' | 'terminal'> = INTERACTIVE,
): Promise<T> => {
  const environment = { ...io.environment };
  const config = await loadClusterConfig({ kubeconfig: flags.kubeconfig, context: flags.context, env: environment });
  const env: Env = { clock: systemClock, random: io.random, log: silentLogger };
  const client = createClient(config, {
    env,
    environment,
    userAgent: `kubectl-edgeset/${version}`,
    ...options,
  });
  try {
    return await work({ client, env, namespace: flags.namespace ?? config.namespace });
  } catch (error) {
    throw toCommandError(error, config);
  } finally {
    await client.close();
  }
};

const PAGE = 500;

/** All objects of a list, read page by page. */
export const listAll = async <T extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource<T>,
  where: ListOptions,
): Promise<T[]> => {
  const items: T[] = [];
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: ListResult<T> = await client.list(resource, { ...where, limit: PAGE, ...(next && { continue: next }) });
    items.push(...page.items);
    next = page.continue;
  }
  return items;
};
