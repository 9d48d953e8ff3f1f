import type { KubeClient, KubeObject, Resource } from '../kube/index.ts';
import type { RequiredApi } from '../leading/index.ts';
import type { ClusterUpdate, GoneContact } from './reach-of.ts';

/** What the cache keeps of a cluster, beside what all kinds have. All times are epoch ms. */
export interface ClusterReading {
  /** Changes when the object says that the cluster became available or unavailable. */
  availability: string;
  /** After that, the cluster is not available. Undefined: it never reported. */
  goneAfter: number | undefined;
  /** After that, it counts as gone with others. An outage of the hub shows on one cluster after the other. */
  missingAfter: number;
  /** How long after one cluster the last of those that went with it can be missing. */
  spreadMs: number;
}

/** A kind of object on the hub that stands for a cluster. */
export interface ClusterKind<T extends KubeObject, R extends ClusterReading> {
  /** In metrics and logs. */
  name: 'ocm' | 'fleet';
  api: RequiredApi;
  clusters: Resource<T>;
  read(cluster: T): R;
  /**
   * When a cluster that is gone was last in contact. `changedAt`: when this process saw it go, by the API server's clock; undefined:
   * it has not. Rejects if the hub can't be asked.
   */
  lastContact(name: string, reading: R, changedAt: number | undefined, hub: Hub): Promise<GoneContact>;
  /** What the hub asks of the cluster. Read only while it is gone, so that nothing of it need be watched or kept. */
  updates(name: string, reading: R, hub: Hub): Promise<ClusterUpdate[]>;
}

/** How a kind reads. */
export interface Hub {
  client: Pick<KubeClient, 'get' | 'list'>;
  signal: AbortSignal;
}
