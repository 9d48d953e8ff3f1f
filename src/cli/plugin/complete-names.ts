import type { Namespace, Node } from 'kubernetes-types/core/v1.d.ts';
import { daemonRollouts } from '../../controller/index.ts';
import { createClient, defineResource, type KubeObject, loadClusterConfig, type Resource } from '../../kube/index.ts';
import { daemonSets } from '../../resources/index.ts';
import { silentLogger, systemClock } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { version } from '../version.ts';
import type { Candidate } from './complete.ts';
import type { Connection } from './connect.ts';
import type { ConnectionFlags } from './flags.ts';
import { readDaemonSet, readRevisions } from './kept-revisions.ts';
import { readRevised } from './revised-kinds.ts';
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

/** What is found in the cluster; nothing when it does not answer in time, or refuses: nobody asked for a message. */
const ask = async <T>(
  flags: ConnectionFlags,
  io: Io,
  work: (connection: Connection, signal: AbortSignal) => Promise<T[]>,
): Promise<T[]> => {
  const environment = { ...io.environment };
  const controller = new AbortController();
  const timer = systemClock.timer(DEADLINE_MS, () => controller.abort());
  try {
    const config = await loadClusterConfig({ kubeconfig: flags.kubeconfig, context: flags.context, env: environment });
    const env = { clock: systemClock, random: io.random, log: silentLogger };
    const client = createClient(config, {
      env,
      environment,
      userAgent: `kubectl-edgeset/${version}`,
      maxRetries: 0,
      terminal: false,
    });
    try {
      return await work({ client, env, namespace: flags.namespace ?? config.namespace }, controller.signal);
    } finally {
      await client.close();
    }
  } catch {
    return [];
  } finally {
    timer.cancel();
  }
};

/** Whose names can be asked for. */
export type Named = '--node' | '--namespace' | 'daemonset' | 'any-daemonset' | 'rollout';

/** Names in the cluster. */
export const namesFor = (what: Named, flags: ConnectionFlags, io: Io): Promise<string[]> =>
  ask(flags, io, async ({ client, namespace }, signal) => {
    const list = async <T extends KubeObject>(
      resource: Resource<T>,
      wanted: (object: T) => boolean = () => true,
    ): Promise<string[]> => {
      const where = resource.namespaced ? { namespace } : {};
      const { items } = await client.list(resource, { ...where, limit: MOST, signal });
      return items.filter(wanted).map(({ metadata }) => metadata?.name ?? '');
    };
    switch (what) {
      case '--node':
        return await list(nodes);
      case '--namespace':
        return await list(namespaces);
      case 'daemonset':
        return await list(daemonSets, hasOptedIn);
      case 'any-daemonset':
        return await list(daemonSets);
      case 'rollout':
        return await list(daemonRollouts);
    }
  });

/** Numbers of the revisions that a DaemonSet keeps, the newest first, with their images. */
export const revisionsFor = (text: string, flags: ConnectionFlags, io: Io): Promise<Candidate[]> =>
  ask(flags, io, async (connection, signal) => {
    const { kind, name } = readRevised(text);
    const daemonSet = await readDaemonSet(connection, kind, name, { signal });
    const revisions = await readRevisions(connection, daemonSet, { signal });
    return revisions.toReversed().map(({ number, images }) => ({ value: `${number}`, description: images.join(', ') }));
  });
