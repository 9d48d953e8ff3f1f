import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../runtime/index.ts';
import { createEmbeddedCluster, startHttpsServer } from '../../sim/index.ts';
import type { StartCluster } from './cluster.ts';

/** A Kubernetes cluster in this process, in the time of `env`, served on loopback to whoever has its kubeconfig. */
export const startEmbeddedCluster: StartCluster = async (env) => {
  const cluster = createEmbeddedCluster({ env });
  const server = await startHttpsServer({ apiServer: cluster.apiServer, wallClock: systemClock });
  const folder = await mkdtemp(path.join(tmpdir(), 'edgeset-demo-'));
  const kubeconfig = path.join(folder, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig(), { mode: 0o600 });
  return {
    kubeconfig,
    addNodes(nodes) {
      for (const { name, ...node } of nodes) cluster.addNode(name, node);
      return Promise.resolve();
    },
    async stop() {
      cluster.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
