import { startCluster } from '../../test/cluster/index.ts';
import { addNodes, createClusterFleet } from './cluster-fleet.ts';
import { spreadDownTimes } from './down-times.ts';
import type { Release, Workload } from './workload.ts';

const STOP_MS = 200;
const NODES_AT_ONCE = 250;
/** Longer than any benchmark. */
const GRACE_SECONDS = 6 * 3600;

/** A real control plane with simulated nodes and a namespace for DaemonSets on all of them. */
export const startRealFleet = async <R extends Release>(nodes: number, workload: Workload<R>) => {
  // However busy the machine, no node may become NotReady; and it has no room to renew the leases of 10,000 nodes.
  const cluster = await startCluster({ graceSeconds: GRACE_SECONDS, delays: { stopMs: STOP_MS } });
  const { plane } = cluster;
  try {
    await spreadDownTimes(plane.api);
    await addNodes(cluster, nodes, NODES_AT_ONCE);
    return {
      ...(await createClusterFleet(cluster, { api: plane.api, nodes, workload, mustRun: () => plane.mustRun() })),
      cluster,
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
};
export type RealFleet<R extends Release> = Awaited<ReturnType<typeof startRealFleet<R>>>;
