import type { RealCluster } from '../../test/cluster/index.ts';

/** What is asked of a DaemonSet. */
export interface Release {
  version: number;
  /** Of the start delays of its pods. */
  meanStartMs: number;
}

/** Status of a DaemonSet of either kind, as far as it is read. */
export interface SetStatus {
  observedGeneration?: number;
  updatedNumberScheduled?: number;
  numberAvailable?: number;
}

/** The kind of DaemonSet that a benchmark is about. */
export interface Workload<R extends Release> {
  /** Flags of the manager that serves it. */
  args: readonly string[];
  /** Called before the manager starts. */
  install(cluster: RealCluster): Promise<void>;
  path(namespace: string, name: string): string;
  /** As it is applied. */
  object(name: string, release: R): object;
}
