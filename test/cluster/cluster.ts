import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createClient, loadClusterConfig } from '../../src/kube/index.ts';
import { silentLogger, systemClock } from '../../src/runtime/index.ts';
import type { Cluster, Pausable } from '../conformance/index.ts';
import { openLink } from '../conformance/index.ts';
import { eventually } from '../support/index.ts';
import { agentRights, startAgent } from './agent.ts';
import { orMissing } from './api.ts';
import { followAudit } from './audit.ts';
import { type ControlPlane, type ControlPlaneOptions, type ProgramName, startControlPlane } from './controlplane.ts';
import { startManager } from './manager.ts';
import { installNodeSimulation } from './node-simulation.ts';
import { createNodes } from './nodes.ts';
import { shippedPlugin } from './shipped.ts';

/** The real control plane as a `Cluster`, and its programs for tests that need them by name. */
export type RealCluster = Cluster & { readonly plane: ControlPlane };

/** The groups and versions that have DaemonSets. */
const DAEMONSETS = ['apps/v1', 'apps.kruise.io/v1beta1'];

/** Starts a real control plane with no nodes; up in seconds once its programs are built. */
export const startCluster = async (options: ControlPlaneOptions = {}): Promise<RealCluster> => {
  const plane = await startControlPlane(options);
  try {
    await installNodeSimulation(plane.api);
  } catch (error) {
    await plane.stop();
    throw error;
  }
  const { api, programs } = plane;
  const kubeconfig = join(plane.dir, 'admin.kubeconfig');
  const client = createClient(await loadClusterConfig({ kubeconfig, env: {} }), {
    env: { clock: systemClock, random: Math.random, log: silentLogger },
    userAgent: 'edgeset-test',
    qps: 0,
  });
  const rights = agentRights(kubeconfig);
  const pausable = (name: ProgramName): Pausable => ({
    pause: () => programs[name].pause(),
    resume: () => programs[name].resume(),
  });
  let namespaces = 0;
  return {
    plane,
    kubeconfig,
    plugin: shippedPlugin,
    client,
    audit: followAudit(plane.auditLog),
    async createNamespace(prefix) {
      namespaces += 1;
      // The audit log is read by this name: no other case of the cluster may have had it.
      const name = `${prefix}-${randomBytes(2).toString('hex')}${namespaces}`;
      await api.post('/api/v1/namespaces', { metadata: { name } });
      // Without it the first pods are refused, and the DaemonSet controller backs off.
      await eventually(
        `namespace ${name} has its default ServiceAccount`,
        () => orMissing(api.get(`/api/v1/namespaces/${name}/serviceaccounts/default`)),
        { everyMs: 25 },
      );
      return name;
    },
    async dropNamespace(name) {
      // A pod whose node goes first stays until the garbage collector looks for such pods, up to a minute later. Until then the
      // namespace controller tries again every few seconds, and the DaemonSet controller's pods are refused: a third of all calls.
      const remove = (path: string): Promise<unknown> =>
        api.delete(path).catch(() => 'left to the namespace controller');
      await Promise.all(DAEMONSETS.map((group) => remove(`/apis/${group}/namespaces/${name}/daemonsets`)));
      await remove(`/api/v1/namespaces/${name}/pods?gracePeriodSeconds=0`);
      await orMissing(api.delete(`/api/v1/namespaces/${name}`));
    },
    ...createNodes(plane),
    nativeController: pausable('daemonset-controller'),
    scheduler: pausable('kube-scheduler'),
    restartApiServer: () => plane.restartApiServer(),
    link: () => openLink({ host: '127.0.0.1', port: Number(new URL(plane.access.server).port) }),
    startManager: (managerOptions) => startManager(plane, managerOptions),
    startAgent: (agentOptions) => startAgent(plane, rights, agentOptions),
    async stop() {
      await client.close();
      await plane.stop();
    },
  };
};
