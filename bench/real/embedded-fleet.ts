import { startEmbeddedCluster } from '../../test/embedded/cluster.ts';
import { addNodes, createClusterFleet } from './cluster-fleet.ts';
import type { Release, Workload } from './workload.ts';

/** No node becomes NotReady beside a busy benchmark, and leases are renewed seldom. The manager does not watch them. */
const GRACE_MS = 600_000;
const NODES_AT_ONCE = 500;

/**
 * The embedded cluster, in this process, for more nodes than a real control plane can serve on two cores. The manager talks to
 * it over HTTPS, as to a real one.
 */
export const startEmbeddedFleet = async <R extends Release>(
  nodes: number,
  workload: Workload<R>,
  /** So many nodes have the same value of BATCH_LABEL. Default: none has it. */
  batch?: number,
) => {
  const cluster = await startEmbeddedCluster({ graceMs: GRACE_MS });
  try {
    await addNodes(cluster, nodes, batch ?? NODES_AT_ONCE, { labelled: batch !== undefined });
    return { ...(await createClusterFleet(cluster, { api: cluster.api, nodes, workload })), cluster };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
};
