import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type KubeClient, loadClusterConfig } from '../../src/kube/index.ts';
import { silentLogger, systemClock } from '../../src/runtime/index.ts';
import { orMissing } from '../cluster/api.ts';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { kubectl, kubectlApply } from '../cluster/kubectl.ts';
import { type Registry, startRegistry } from '../containerd/index.ts';
import { eventually } from '../support/index.ts';
import { createImages } from './images.ts';
import { createMachine, type Machine } from './machine/machine.ts';
import { addressOf, createBridge, gateway, podCidrOf } from './machine/network.ts';
import { findNodePrograms } from './programs.ts';

/** A lease that is this old makes a node not ready. */
export const GRACE_SECONDS = 6;

export interface NodeSpec {
  name: string;
  labels?: Readonly<Record<string, string>>;
  diskMiB?: number;
}

export interface NodeCluster {
  readonly plane: ControlPlane;
  readonly registry: Registry;
  readonly images: Awaited<ReturnType<typeof createImages>>;
  /** Of cluster-admin, as the client is. */
  readonly kubeconfig: string;
  readonly client: KubeClient;
  machine(name: string): Machine;
  /** Layers of the repository come at this rate from now on. */
  slow(repository: string, bytesPerSecond: number): void;
  kubectl(...args: string[]): Promise<string>;
  apply(object: object): Promise<string>;
  /** Resolves when pods can be created in it. */
  createNamespace(name: string): Promise<void>;
  /** Resolves when the node has been reported ready, or not ready, by the node controller. */
  untilNode(name: string, ready: boolean, withinMs?: number): Promise<void>;
  stop(): Promise<void>;
}

interface Node {
  metadata: { name: string };
  status: { conditions?: { type: string; status: string }[] };
}

/** Starts a control plane, a registry and real nodes in the network and mount namespace of this process. */
export const startNodeCluster = async (specs: readonly NodeSpec[], controlGroup: string): Promise<NodeCluster> => {
  const programs = await findNodePrograms();
  await createBridge();
  const registry = await startRegistry(gateway);
  const rates = new Map<string, number>();
  registry.bytesPerSecond = (path) => {
    const [, , repository = '', kind] = path.split('/');
    return kind === 'blobs' ? rates.get(repository) : undefined;
  };
  const images = await createImages(registry, programs.app);
  const plane = await startControlPlane({
    graceSeconds: GRACE_SECONDS,
    address: gateway,
    kubelets: specs.map(({ name }) => name),
  });
  const machines = new Map<string, Machine>();
  const kubeconfig = join(plane.dir, 'admin.kubeconfig');
  const client = createClient(await loadClusterConfig({ kubeconfig, env: {} }), {
    env: { clock: systemClock, random: Math.random, log: silentLogger },
    userAgent: 'edgeset-test',
    qps: 0,
  });
  const disks = join(plane.dir, 'disks');
  await mkdir(disks);

  const start = async ({ name, labels = {}, diskMiB = 1024 }: NodeSpec, position: number): Promise<void> => {
    const index = position + 1;
    const machine = await createMachine(plane.processes, {
      name,
      index,
      dir: disks,
      address: addressOf(index),
      gateway,
      podCidr: podCidrOf(index),
      apiServer: new URL(plane.access.server).host,
      registry: registry.host,
      kubelet: programs.kubelet,
      kubeconfig: await readFile(join(plane.dir, `${name}.kubeconfig`), 'utf8'),
      labels,
      controlGroup,
      diskMiB,
    });
    machines.set(name, machine);
    await machine.powerOn();
  };

  const cluster: NodeCluster = {
    plane,
    registry,
    images,
    kubeconfig,
    client,
    slow: (repository, bytesPerSecond) => void rates.set(repository, bytesPerSecond),
    machine(name) {
      const machine = machines.get(name);
      if (!machine) throw new Error(`there is no node ${name}`);
      return machine;
    },
    kubectl: (...args) => kubectl(kubeconfig, args),
    apply: (object) => kubectlApply(kubeconfig, object),
    async createNamespace(name) {
      await plane.api.post('/api/v1/namespaces', { metadata: { name } });
      const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
      await eventually(`${name} has its service account`, () => orMissing(plane.api.get(account)), { everyMs: 25 });
    },
    async untilNode(name, ready, withinMs = 60_000) {
      await eventually(
        `${name} is ${ready ? '' : 'not '}ready`,
        async () => {
          plane.mustRun();
          const node = await plane.api.get<Node>(`/api/v1/nodes/${name}`);
          const status = node.status.conditions?.find(({ type }) => type === 'Ready')?.status;
          return ready ? status === 'True' : status === 'Unknown' || status === 'False';
        },
        { withinMs, everyMs: 100 },
      );
    },
    async stop() {
      await Promise.all([...machines.values()].map((machine) => machine.remove()));
      await registry.close();
      await client.close();
      await plane.stop();
    },
  };
  try {
    await Promise.all(specs.map(start));
    await Promise.all(specs.map(({ name }) => cluster.untilNode(name, true)));
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
};
