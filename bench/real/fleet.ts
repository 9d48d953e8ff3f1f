import { startCluster } from '../../test/cluster/index.ts';
import type { Manager } from '../../test/conformance/index.ts';
import { eventually } from '../../test/support/index.ts';
import { spreadDownTimes } from './down-times.ts';
import type { Release, SetStatus, Workload } from './workload.ts';

const STOP_MS = 200;
/** Nodes at a time: their status is polled as one list. */
const CHUNK = 250;
/** Longer than any benchmark. */
const GRACE_SECONDS = 6 * 3600;

interface SetObject {
  metadata: { generation: number };
  status?: SetStatus;
}

/** A real control plane with simulated nodes and a namespace for DaemonSets on all of them. */
export const startRealFleet = async <R extends Release>(nodes: number, workload: Workload<R>) => {
  // However busy the machine, no node may become NotReady; and it has no room to renew the leases of 10,000 nodes.
  const cluster = await startCluster({ graceSeconds: GRACE_SECONDS, delays: { stopMs: STOP_MS } });
  const { api } = cluster.plane;
  try {
    await Promise.all([spreadDownTimes(api), workload.install(cluster)]);
    const namespace = await cluster.createNamespace('bench');
    const names = Array.from({ length: nodes }, (_, index) => `edge-${String(index).padStart(4, '0')}`);
    for (let from = 0; from < nodes; from += CHUNK) await cluster.addNodes(names.slice(from, from + CHUNK));
    const path = (name: string): string => workload.path(namespace, name);

    return {
      cluster,
      namespace,
      nodes,
      /** Applies a DaemonSet; resolves at once. */
      apply: async (name: string, release: R): Promise<void> =>
        void (await api.apply(path(name), workload.object(name, release))),
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
            cluster.plane.mustRun();
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
        const manager = await cluster.startManager({ namespace, args: [election, ...workload.args] });
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
  } catch (error) {
    await cluster.stop();
    throw error;
  }
};
export type RealFleet<R extends Release> = Awaited<ReturnType<typeof startRealFleet<R>>>;
