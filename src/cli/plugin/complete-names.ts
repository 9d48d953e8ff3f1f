import type { Namespace, Node } from 'kubernetes-types/core/v1.d.ts';
import { daemonRollouts } from '../../controller/index.ts';
import { createClient, defineResource, type KubeObject, loadClusterConfig, type Resource } from '../../kube/index.ts';
import { daemonSets } from '../../resources/index.ts';
import { silentLogger, systemClock } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { version } from '../version.ts';
import type { ConnectionFlags } from './flags.ts';
import { hasOptedIn } from './standing.ts';

/** Somebody holds a finger on Tab: later answers are of no use. */
const DEADLINE_MS = 1_500;
const MOST = 500;

const nodes = defineResource<Node>({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false });
const namespaces = defineResource<Namespace>({
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
});

/** Names in the cluster; none when it does not answer in time, or refuses: nobody asked for a message. */
export const namesFor = async (
  what: '--node' | '--namespace' | 'daemonset' | 'rollout',
  flags: ConnectionFlags,
  io: Io,
): Promise<string[]> => {
  const environment = { ...io.environment };
  const signal = new AbortController();
  const timer = systemClock.timer(DEADLINE_MS, () => signal.abort());
  try {
    const config = await loadClusterConfig({ kubeconfig: flags.kubeconfig, context: flags.context, env: environment });
    const client = createClient(config, {
      env: { clock: systemClock, random: io.random, log: silentLogger },
      environment,
      userAgent: `kubectl-edgeset/${version}`,
      maxRetries: 0,
      terminal: false,
    });
    const list = async <T extends KubeObject>(
      resource: Resource<T>,
      wanted: (object: T) => boolean = () => true,
    ): Promise<string[]> => {
      const namespace = resource.namespaced ? { namespace: flags.namespace ?? config.namespace } : {};
      const { items } = await client.list(resource, { ...namespace, limit: MOST, signal: signal.signal });
      return items.filter(wanted).map(({ metadata }) => metadata?.name ?? '');
    };
    try {
      switch (what) {
        case '--node':
          return await list(nodes);
        case '--namespace':
          return await list(namespaces);
        case 'daemonset':
          return await list(daemonSets, hasOptedIn);
        case 'rollout':
          return await list(daemonRollouts);
      }
    } finally {
      await client.close();
    }
  } catch {
    return [];
  } finally {
    timer.cancel();
  }
};
