import type { Command } from 'commander';
import { createClient, type KubeClient, loadClusterConfig } from '../../kube/index.ts';
import { silentLogger, systemClock } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { version } from '../version.ts';

/** Flags that every command which talks to a cluster has, with kubectl's names. */
export interface ConnectionFlags {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
}

export const addConnectionFlags = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, the service account of the pod, ~/.kube/config)')
    .option('--context <name>', "context of the kubeconfig (default: the kubeconfig's current one)")
    .option('-n, --namespace <name>', "namespace (default: the context's, else default)");

export interface Connection {
  client: KubeClient;
  namespace: string;
}

/** Opens a client for the length of `work`. */
export const withCluster = async <T>(
  flags: ConnectionFlags,
  io: Io,
  work: (connection: Connection) => Promise<T>,
): Promise<T> => {
  const config = await loadClusterConfig({
    kubeconfig: flags.kubeconfig,
    context: flags.context,
    env: { ...io.environment },
  });
  const client = createClient(config, {
    env: { clock: systemClock, random: io.random, log: silentLogger },
    userAgent: `kubectl-edgeset/${version}`,
    environment: { ...io.environment },
  });
  try {
    return await work({ client, namespace: flags.namespace ?? config.namespace ?? 'default' });
  } finally {
    await client.close();
  }
};
