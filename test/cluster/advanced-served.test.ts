import { after, before, describe } from 'node:test';
import { advancedDaemonSetCrd, createAdvancedKind } from '../../src/advanced/index.ts';
import { createController } from '../../src/controller/index.ts';
import { createEventRecorder } from '../../src/kube/index.ts';
import { daemonRolloutCrd } from '../../src/rollout/index.ts';
import { silentLogger, systemClock } from '../../src/runtime/index.ts';
import { describeServed, type HandStage } from '../conformance/advanced/index.ts';
import { kubectlApply, type RealCluster, startCluster, until } from './index.ts';

describe('Advanced DaemonSets and their controller, on a real API server', { timeout: 300_000, concurrency: 2 }, () => {
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  let cluster: RealCluster;
  before(async () => {
    cluster = await startCluster();
    await cluster.addNodes(['anchor'], {
      taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    });
    await kubectlApply(cluster.kubeconfig, advancedDaemonSetCrd);
    await kubectlApply(cluster.kubeconfig, daemonRolloutCrd);
  });
  after(async () => {
    stopping.abort(new Error('the tests are over'));
    await Promise.all(running);
    await cluster.stop();
  });

  /** A namespace and nodes of its own, and a controller for them in this process. */
  const open = async (): Promise<HandStage> => {
    const namespace = await cluster.createNamespace('served');
    const nodes = [`${namespace}-1`, `${namespace}-2`, `${namespace}-3`];
    await cluster.addNodes(nodes, { labels: { case: namespace } });
    const { client } = cluster;
    const env = { clock: systemClock, random: Math.random, log: silentLogger };
    const events = createEventRecorder({
      client,
      env,
      reportingController: 'edgeset.io/manager',
      reportingInstance: namespace,
    });
    const controller = createController(createAdvancedKind(), {
      client,
      env,
      events,
      identity: namespace,
      namespaces: [namespace],
    });
    const { signal } = stopping;
    running.push(events.run(signal), controller.run(signal), controller.lead(signal));
    return {
      client,
      namespace,
      nodes,
      now: Date.now,
      until: (what, probe) => until(what, 60_000, 50, probe),
    };
  };

  describeServed(open);
});
