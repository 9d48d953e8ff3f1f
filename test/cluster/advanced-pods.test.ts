import { after, before, describe } from 'node:test';
import { advancedDaemonSetCrd } from '../../src/kinds/advanced/index.ts';
import { describeInPlace, describeOwners, type PodTestContext } from '../conformance/advanced/index.ts';
import { eventually } from '../support/index.ts';
import { kubectlApply, type RealCluster, startCluster } from './index.ts';

describe('Advanced DaemonSets played by hand, on a real API server', { timeout: 300_000, concurrency: 3 }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startCluster();
    await cluster.addNodes(['anchor'], {
      taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    });
    await kubectlApply(cluster.kubeconfig, advancedDaemonSetCrd);
  });
  after(() => cluster.stop());

  const open = async (): Promise<PodTestContext> => {
    const namespace = await cluster.createNamespace('hand');
    const nodes = [`${namespace}-1`, `${namespace}-2`];
    await cluster.addNodes(nodes, { labels: { case: namespace } });
    return {
      client: cluster.client,
      namespace,
      nodes,
      now: Date.now,
      until: (what, probe) => eventually(what, probe, { everyMs: 50 }),
    };
  };

  describeInPlace(open);
  describeOwners(open);
});
