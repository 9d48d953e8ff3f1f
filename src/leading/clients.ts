import { type ClientOptions, type ClusterConfig, createClient, type KubeClient } from '../kube/index.ts';

export interface ClientsOptions
  extends Pick<
    ClientOptions,
    'env' | 'qps' | 'burst' | 'onRequest' | 'environment' | 'connect' | 'readFile' | 'parse' | 'stringify'
  > {
  /** As in `edgeset manager`. */
  program: string;
  version: string;
}

export interface Clients {
  /** For everything but the leader election. */
  client: KubeClient;
  /** For the leader election alone. */
  leaseClient: KubeClient;
  close(): Promise<void>;
}

/**
 * Of a response. An object of etcd's 1.5 MB takes six times as much in JSON, if it consists of characters that Go escapes;
 * a page of larger objects is read in smaller pages.
 */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * The clients of a process. A renewal of the Lease waits neither for other calls nor behind them on a connection: the
 * leader election has a client, and so limits and a connection, of its own. It tries again by itself, more often than a
 * client would.
 */
export const createClients = (
  config: ClusterConfig,
  { program, version, qps, burst, ...common }: ClientsOptions,
): Clients => {
  const userAgent = `edgeset-${program}/${version}`;
  const limits = { ...(qps !== undefined && { qps }), ...(burst !== undefined && { burst }) };
  const client = createClient(config, { ...common, ...limits, userAgent, maxBodyBytes: MAX_BODY_BYTES });
  const leaseClient = createClient(config, { ...common, userAgent: `${userAgent} leader-election`, maxRetries: 0 });
  return {
    client,
    leaseClient,
    close: async () => void (await Promise.all([client.close(), leaseClient.close()])),
  };
};
