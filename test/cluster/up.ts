/**
 * A cluster to try things on:  node test/cluster/up.ts [node...]
 * Without names it has the nodes of OpenYurt's own example. Runs until Ctrl-C.
 */
import { startCluster } from './index.ts';

const controlPlane = 'openyurt-e2e-test-control-plane';
const workers = ['openyurt-e2e-test-worker', 'openyurt-e2e-test-worker2', 'openyurt-e2e-test-worker3'];

const main = async (): Promise<void> => {
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
  });
  // What the promise above waits for does not keep the process alive.
  const alive = setInterval(() => undefined, 2 ** 30);
  const names = process.argv.slice(2);
  const started = performance.now();
  const cluster = await startCluster();
  try {
    await cluster.addNodes([controlPlane], {
      labels: { 'node-role.kubernetes.io/control-plane': '' },
      taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    });
    const nodes = names.length > 0 ? names : workers;
    await cluster.addNodes(nodes);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`Up in ${seconds} s: ${nodes.length} nodes and a control plane, all on this machine. In another terminal:

  export KUBECONFIG=${cluster.kubeconfig}
  kubectl get nodes

Take a node offline, and bring it back:

  kubectl annotate node ${nodes[0]} edgeset.io/sim=offline
  kubectl annotate node ${nodes[0]} edgeset.io/sim-

Ctrl-C ends it and removes every trace.
`);
    await stopped;
  } finally {
    clearInterval(alive);
    await cluster.stop();
  }
};

await main();
