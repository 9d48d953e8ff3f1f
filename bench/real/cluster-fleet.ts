import type { Api } from '../../test/cluster/index.ts';
import type { Cluster, Manager } from '../../test/conformance/index.ts';
import { kinds } from '../../test/conformance/kit/kinds.ts';
import { eventually } from '../../test/support/index.ts';
import type { Release, SetStatus, Workload } from './workload.ts';

interface SetObject {
  metadata: { generation: number };
  status?: SetStatus;
}

export interface ClusterFleetOptions<R extends Release> {
  api: Api;
  /** How many there are. */
  nodes: number;
  workload: Workload<R>;
  /** Throws when the control plane has ended. Default: it can't end. */
  mustRun?: () => void;
}

/** Nodes that were added at once have the same value of it, counted from 0. */
export const BATCH_LABEL = 'bench.edgeset.io/batch';

/** Adds nodes, `atOnce` at a time: whether they are ready is polled as one list of all nodes. */
export const addNodes = async (
  cluster: Cluster,
  count: number,
  atOnce: number,
  { labelled = false } = {},
): Promise<void> => {
  // spreadDownTimes reads the last four characters.
  const names = Array.from({ length: count }, (_, index) => `edge-${String(index).padStart(4, '0')}`);
  for (let from = 0; from < count; from += atOnce) {
    const labels = { [BATCH_LABEL]: String(from / atOnce) };
    await cluster.addNodes(names.slice(from, from + atOnce), labelled ? { labels } : {});
  }
};

/** A namespace for DaemonSets on all nodes of a cluster. */
export const createClusterFleet = async <R extends Release>(
  cluster: Cluster,
  { api, nodes, workload, mustRun = () => undefined }: ClusterFleetOptions<R>,
) => {
  const namespace = await cluster.createNamespace('bench');
  const { path: collection, make, managerArgs } = kinds[workload.kind];
  const path = (name: string): string => `${collection(namespace)}/${name}`;
  return {
    namespace,
    nodes,
    /** Applies a DaemonSet; resolves at once. */
    apply: async (name: string, release: R): Promise<void> =>
      void (await api.apply(path(name), make(namespace, { name, ...workload.shape(release) }))),
    read: async (name: string): Promise<{ generation: number; status: SetStatus }> => {
      const { metadata, status = {} } = await api.get<SetObject>(path(name));
      return { generation: metadata.generation, status };
    },
    /** Deletes the DaemonSet without waiting for its pods. */
    remove: async (name: string): Promise<void> => void (await api.delete(path(name))),
    /** Resolves when every node runs the DaemonSet's template, available; `scheduled`: when every node has a pod of it. */
    whenRolledOut: (
      name: string,
      timeoutMs: number,
      until: 'available' | 'scheduled' = 'available',
    ): Promise<boolean> =>
      eventually(
        `${name} is rolled out`,
        async () => {
          mustRun();
          const { metadata, status } = await api.get<SetObject>(path(name));
          return (
            status?.observedGeneration === metadata.generation &&
            status.updatedNumberScheduled === nodes &&
            (until === 'scheduled' || status.numberAvailable === nodes)
          );
        },
        { withinMs: timeoutMs, everyMs: 250 },
      ),
    /** Starts the product's manager; resolves when it is ready. Nothing else may lead. */
    async startManager({ leaderElect = false } = {}): Promise<Manager> {
      const election = leaderElect ? `--leader-election-namespace=${namespace}` : '--leader-elect=false';
      const manager = await cluster.startManager({
        namespace,
        args: [election, ...managerArgs, ...(workload.args ?? [])],
      });
      const ended = manager.exit.then(async (how) => {
        throw new Error(`the manager ended with ${how}: ${(await manager.log()).slice(-500)}`);
      });
      ended.catch(() => undefined);
      const ready = eventually('the manager is ready', async () => (await fetch(`${manager.probes}/readyz`)).ok, {
        withinMs: 60_000,
        everyMs: 250,
      });
      await Promise.race([ready, ended]);
      return manager;
    },
    stop: () => cluster.stop(),
  };
};
export type ClusterFleet<R extends Release> = Awaited<ReturnType<typeof createClusterFleet<R>>>;
