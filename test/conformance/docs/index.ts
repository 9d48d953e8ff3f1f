import { describe, it } from 'node:test';
import type { Cluster } from '../cluster.ts';
import { leaveOpenKruise } from './openkruise.ts';
import { playPage } from './play.ts';

export { describeReference } from './reference.ts';

const PAGES = [
  'docs/guide/advanced-daemonset.md',
  'docs/guide/from-native-daemonset.md',
  'docs/guide/pull-ahead.md',
  'docs/guide/steer-advanced.md',
  'docs/reference/advanced-daemonset.md',
];

const NODES = ['node-1', 'node-2', 'node-3'];

/** Three nodes, as the pages have them, and one that belongs to the control plane. */
const withCluster = async (start: () => Promise<Cluster>, play: (cluster: Cluster) => Promise<void>): Promise<void> => {
  const cluster = await start();
  try {
    await cluster.addNodes(['anchor'], {
      taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    });
    await cluster.addNodes(NODES);
    await play(cluster);
  } finally {
    await cluster.stop();
  }
};

type Start = () => Promise<Cluster>;

/** Registers a test for each page whose commands are played as they are written; each has a cluster of its own. */
export const describePages = (where: string, start: Start): void => {
  describe(`pages of the documentation, ${where}`, { timeout: 600_000 }, () => {
    for (const page of PAGES)
      it(page, () => withCluster(start, (cluster) => playPage({ page, cluster, manager: 'from the beginning' })));
  });
};

/** That of a user of OpenKruise needs admission webhooks and Deployments, which the embedded cluster has not. */
export const describeOpenKruisePage = (start: Start): void => {
  describe('the page for users of OpenKruise, on a real control plane', { timeout: 300_000 }, () => {
    const page = 'docs/guide/from-openkruise.md';
    it(page, () =>
      withCluster(start, async (cluster) => {
        await leaveOpenKruise(cluster, NODES);
        await playPage({ page, cluster, manager: 'where it is started' });
      }),
    );
  });
};
