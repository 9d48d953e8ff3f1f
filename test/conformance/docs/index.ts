import { describe, it } from 'node:test';
import { nodes } from '../../../src/kube/index.ts';
import type { Cluster } from '../cluster.ts';
import { until } from '../kit/until.ts';
import { leaveOpenKruise } from './openkruise.ts';
import { leaveWithoutManager } from './recovery.ts';
import { runPage } from './run-page.ts';
import { openShop, openShopPrometheus } from './shop.ts';

export { kruiseDefinition } from './openkruise.ts';
export { blocksOf, readPage } from './page.ts';
export { describeReference } from './reference.ts';
export { runPage } from './run-page.ts';
export { applyWith, openShell, type Shell } from './shell.ts';

const PAGES = [
  'docs/how-to/advanced-daemonset.md',
  'docs/how-to/from-native-daemonset.md',
  'docs/how-to/pull-ahead.md',
  'docs/how-to/steer-advanced.md',
  'docs/reference/advanced-daemonset.md',
];

/** Pages about rollout plans, for a shop whose DaemonSets are rolled out. */
const SHOP_PAGES = [
  'docs/how-to/windows-and-freezes.md',
  'docs/how-to/limit-nodes-per-site.md',
  'docs/how-to/order-daemonsets.md',
  'docs/how-to/approve-a-stage.md',
  'docs/how-to/migrate-to-stages.md',
  'docs/how-to/stage-checks.md',
  'docs/how-to/production.md',
];

/** Pages that need nodes whose settle time has ended. */
const SETTLED = new Set(['docs/how-to/steer-advanced.md']);

const NODES = ['node-1', 'node-2', 'node-3'];

/** Three nodes, as on the pages, and one of the control plane. */
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

const SETTLE_MS = 10_000;

const untilSettled = async ({ client }: Cluster): Promise<void> => {
  const isReady = ({ type, status }: { type: string; status: string }): boolean =>
    type === 'Ready' && status === 'True';
  await until(
    'the nodes are no new ones',
    async () => {
      const { items } = await client.list(nodes);
      const since = items.map(({ status }) => Date.parse(status?.conditions?.find(isReady)?.lastTransitionTime ?? ''));
      return since.every((at) => Date.now() - at > SETTLE_MS + 1_000);
    },
    60_000,
  );
};

type Start = () => Promise<Cluster>;

/** Registers a test for each page whose commands are played as they are written; each has its own cluster. */
export const describePages = (where: string, start: Start): void => {
  describe(`pages of the documentation, ${where}`, { timeout: 600_000 }, () => {
    for (const page of PAGES)
      it(page, () =>
        withCluster(start, async (cluster) => {
          if (SETTLED.has(page)) await untilSettled(cluster);
          await runPage({ page, cluster, manager: 'from the beginning' });
        }),
      );
  });
};

/** Registers a test for each page about rollout plans. */
export const describeShopPages = (where: string, start: Start): void => {
  describe(`pages about rollout plans, ${where}`, { timeout: 600_000 }, () => {
    for (const page of SHOP_PAGES)
      it(page, () =>
        withCluster(start, async (cluster) => {
          const prometheus = await openShopPrometheus();
          try {
            const args = [`--prometheus-address=${prometheus.url}`];
            await runPage({ page, cluster, manager: 'from the beginning', prepare: openShop, args });
          } finally {
            prometheus.close();
          }
        }),
      );
  });
};

/** That of a user of OpenKruise needs admission webhooks and Deployments, which the embedded cluster has not. */
export const describeOpenKruisePage = (start: Start): void => {
  describe('the page for users of OpenKruise, on a real control plane', { timeout: 300_000 }, () => {
    const page = 'docs/how-to/from-openkruise.md';
    it(page, () =>
      withCluster(start, async (cluster) => {
        await leaveOpenKruise(cluster, NODES);
        await runPage({ page, cluster, manager: 'where it is started' });
      }),
    );
  });
};

/** That of a cluster whose manager is gone, and whose CRDs were deleted. */
export const describeRecoveryPage = (where: string, start: Start): void => {
  describe(`the page for disasters, ${where}`, { timeout: 300_000 }, () => {
    const page = 'docs/how-to/disaster-recovery.md';
    it(page, () =>
      withCluster(start, async (cluster) => {
        await leaveWithoutManager(cluster);
        await runPage({ page, cluster, manager: 'where it is started' });
      }),
    );
  });
};
