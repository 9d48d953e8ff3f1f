import { describe, it } from 'node:test';
import type { Cluster } from '../cluster.ts';
import { playPage } from './play.ts';

/** Three nodes, as the pages have them, and one that belongs to the control plane. */
const withCluster = async (start: () => Promise<Cluster>, play: (cluster: Cluster) => Promise<void>): Promise<void> => {
  const cluster = await start();
  try {
    await cluster.addNodes(['anchor'], {
      taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    });
    await cluster.addNodes(['node-1', 'node-2', 'node-3']);
    await play(cluster);
  } finally {
    await cluster.stop();
  }
};

/** Registers a test for each page whose commands are played as they are written; each has a cluster of its own. */
export const describePages = (where: string, start: () => Promise<Cluster>): void => {
  describe(`pages of the documentation, ${where}`, { timeout: 600_000 }, () => {
    for (const page of ['docs/guide/from-native-daemonset.md', 'docs/guide/steer-advanced.md'])
      it(page, () => withCluster(start, (cluster) => playPage({ page, cluster, manager: 'from the beginning' })));
  });
};
