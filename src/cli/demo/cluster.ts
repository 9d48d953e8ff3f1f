import type { Env } from '../../runtime/index.ts';
import type { DemoNode } from './parts/index.ts';

/** What the demo needs of a cluster; nodes go offline by their annotation `edgeset.io/sim`. */
export interface DemoCluster {
  /** Path of a kubeconfig for whoever plays administrator. */
  kubeconfig: string;
  /** Resolves when all are Ready. */
  addNodes(nodes: readonly DemoNode[]): Promise<void>;
  /** Takes every trace away. */
  stop(): Promise<void>;
}

export type StartCluster = (env: Env) => Promise<DemoCluster>;
