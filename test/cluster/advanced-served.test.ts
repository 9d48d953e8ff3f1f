import { after, before, describe } from 'node:test';
import { advancedDaemonSetCrd } from '../../src/advanced/index.ts';
import { describeServed, type HandStage } from '../conformance/advanced/index.ts';
import type { Manager } from '../conformance/index.ts';
import { kubectlApply, type RealCluster, startCluster, until } from './index.ts';

describe('Advanced DaemonSets and the manager, under the rights of deploy/', {
  timeout: 300_000,
  concurrency: 2,
}, () => {
  let cluster: RealCluster;
  let manager: Manager;
  before(async () => {
    cluster = await startCluster();
    await cluster.addNodes(['anchor'], {
      taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    });
    await kubectlApply(cluster.kubeconfig, advancedDaemonSetCrd);
    const namespace = await cluster.createNamespace('manager');
    manager = await cluster.startManager({
      namespace,
      args: ['--controllers=native,advanced', `--leader-election-namespace=${namespace}`],
    });
  });
  after(async () => {
    await manager.stop();
    await cluster.stop();
  });

  const open = async (): Promise<HandStage> => {
    const namespace = await cluster.createNamespace('served');
    const nodes = [`${namespace}-1`, `${namespace}-2`, `${namespace}-3`];
    await cluster.addNodes(nodes, { labels: { case: namespace } });
    return {
      client: cluster.client,
      namespace,
      nodes,
      now: Date.now,
      until: (what, probe) => until(what, 60_000, 50, probe),
    };
  };

  describeServed(open);
});
