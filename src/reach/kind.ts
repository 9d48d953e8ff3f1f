import type { KubeClient, KubeObject, Resource } from '../kube/index.ts';
import type { RequiredApi } from '../leading/index.ts';
import type { ClusterContact, ClusterUpdate, Reach } from './reach-of.ts';

/** What is observed of a cluster beside its object. */
export interface Observed {
  /** By the API server's clock, epoch ms. */
  now: number;
  /** When this process saw the cluster's availability change, epoch ms; undefined: it has not since it runs. */
  changedAt: number | undefined;
  /** `at`: when we wrote it, or if that cannot be read, when this process first saw it. Undefined: none of ours. */
  label: { reach: Reach; at: number | undefined } | undefined;
}

export interface ContactReading {
  contact: ClusterContact;
  /** When time alone changes it, epoch ms. */
  changesAt?: number;
}

/** What the cache keeps of a cluster, beside what all kinds have. */
export interface ClusterReading {
  /** Changes when the cluster becomes available or unavailable. */
  availability: string;
}

/** A kind of object on the hub that stands for a cluster. */
export interface ClusterKind<T extends KubeObject, R extends ClusterReading> {
  /** In metrics and logs. */
  name: 'ocm' | 'fleet';
  api: RequiredApi;
  clusters: Resource<T>;
  read(cluster: T): R;
  /** Whether the cluster is not available, and was before. */
  isGone(reading: R, now: number): boolean;
  /** Asks the hub for what the object itself does not say. Rejects if that fails. */
  contact(name: string, reading: R, observed: Observed, hub: Hub): Promise<ContactReading>;
  /** What the hub asks of the cluster. Read only while it is away, so that nothing of it need be watched or kept. */
  updates(name: string, reading: R, hub: Hub): Promise<ClusterUpdate[]>;
}

/** How a kind reads. */
export interface Hub {
  client: Pick<KubeClient, 'get' | 'list'>;
  signal: AbortSignal;
}
