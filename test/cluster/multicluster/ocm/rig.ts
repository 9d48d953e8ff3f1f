// A hub and its members, each with a control plane of its own. Open Cluster Management's work manager, placement controller and
// agents are its own programs; what its registration does, the test does by hand: ManagedClusters, their availability, their taints.
//
// With three members it is 32 processes that take 4 GiB: 1.1 GiB a member, half of it for the API server. It is up after about 30 s of
// CPU, on two busy cores in a minute.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Link, openLink } from '../../../conformance/index.ts';
import type { Api } from '../../api.ts';
import { type RealCluster, startCluster } from '../../cluster.ts';
import { type ControlPlane, freePort, kubeconfigText, startControlPlane } from '../../controlplane.ts';
import type { Program } from '../../processes.ts';
import { type Condition, findOcm, installOcmCrds } from './ocm.ts';

/** The namespace of Placements and ManifestWorkReplicaSets on the hub, as in deploy/multicluster/ocm. */
export const NAMESPACE = 'edge-apps';

const CLUSTERS = '/apis/cluster.open-cluster-management.io/v1/managedclusters';

export type Reach = 'online' | 'settling' | 'away' | 'suspect';

export interface Member {
  readonly name: string;
  readonly cluster: RealCluster;
  readonly api: Api;
  readonly agent: Program;
  /** Between its agent and the hub. */
  readonly link: Link;
}

export interface Hub {
  readonly plane: ControlPlane;
  readonly api: Api;
  readonly kubeconfig: string;
  readonly workManager: Program;
  readonly placement: Program;
}

export interface Rig {
  readonly hub: Hub;
  readonly members: ReadonlyMap<string, Member>;
  stop(): Promise<void>;
}

interface Options {
  /** Their names. */
  members: readonly string[];
  /** Nodes of each member. */
  nodes: readonly string[];
}

const startOcm = async (plane: ControlPlane, command: string, args: readonly string[]): Promise<Program> => {
  const { ocm } = await findOcm();
  return plane.processes.start({
    name: `ocm-${command}`,
    file: ocm,
    args: [
      command,
      `--kubeconfig=${join(plane.dir, 'admin.kubeconfig')}`,
      '--namespace=default',
      '--disable-leader-election',
      `--listen=127.0.0.1:${await freePort()}`,
      ...args,
    ],
  });
};

const startHub = async (): Promise<Hub> => {
  const plane = await startControlPlane();
  // It has no nodes.
  for (const name of ['kube-controller-manager', 'daemonset-controller', 'kube-scheduler', 'kwok'] as const)
    plane.programs[name].kill();
  await installOcmCrds(plane.api, 'hub');
  await plane.api.post('/apis/cluster.open-cluster-management.io/v1beta2/managedclustersets', {
    apiVersion: 'cluster.open-cluster-management.io/v1beta2',
    kind: 'ManagedClusterSet',
    metadata: { name: 'global' },
    spec: { clusterSelector: { selectorType: 'LabelSelector', labelSelector: {} } },
  });
  return {
    plane,
    api: plane.api,
    kubeconfig: join(plane.dir, 'admin.kubeconfig'),
    workManager: await startOcm(plane, 'work-manager', ['--feature-gates=ManifestWorkReplicaSet=true']),
    placement: await startOcm(plane, 'placement', []),
  };
};

/** As the taint controller of OCM's registration does: only what is available has no taint. */
const taintsOf = (available: Condition['status']): object[] => {
  if (available === 'True') return [];
  const word = available === 'Unknown' ? 'unreachable' : 'unavailable';
  const key = `cluster.open-cluster-management.io/${word}`;
  return [{ key, effect: 'NoSelect', timeAdded: new Date().toISOString() }];
};

const availability = {
  True: { reason: 'ManagedClusterAvailable', message: 'Managed cluster is available' },
  False: { reason: 'ManagedClusterKubeAPIServerUnavailable', message: 'The kube-apiserver is not ok' },
  Unknown: {
    reason: 'ManagedClusterLeaseUpdateStopped',
    message: 'Registration agent stopped updating its lease.',
  },
} as const;

/** What OCM's registration writes of a cluster: on its hub, when it has joined, and when its lease has run out. */
export const report = async (hub: Hub, name: string, available: keyof typeof availability): Promise<void> => {
  const lastTransitionTime = new Date().toISOString();
  const condition = (type: string, status: string, reason: string, message: string): object => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime,
  });
  const { reason, message } = availability[available];
  const conditions = [
    condition('HubAcceptedManagedCluster', 'True', 'HubClusterAdminAccepted', 'Accepted by hub cluster admin'),
    condition('ManagedClusterJoined', 'True', 'ManagedClusterJoined', 'Managed cluster joined'),
    condition('ManagedClusterConditionAvailable', available, reason, message),
  ];
  await hub.api.patch(`${CLUSTERS}/${name}/status`, { status: { conditions } }, 'merge-patch');
  await hub.api.patch(`${CLUSTERS}/${name}`, { spec: { taints: taintsOf(available) } }, 'merge-patch');
};

/** What `edgeset reach` writes. */
export const label = (hub: Hub, name: string, reach: Reach): Promise<unknown> =>
  hub.api.patch(`${CLUSTERS}/${name}`, { metadata: { labels: { 'edgeset.io/reach': reach } } }, 'merge-patch');

export const reachOf = async (hub: Hub, name: string): Promise<string | undefined> => {
  const { metadata } = await hub.api.get<{ metadata: { labels: Record<string, string> } }>(`${CLUSTERS}/${name}`);
  return metadata.labels['edgeset.io/reach'];
};

/** What the registration agent of a cluster does while it reaches the hub. */
export const renewLease = (hub: Hub, name: string): Promise<unknown> =>
  hub.api.apply(`/apis/coordination.k8s.io/v1/namespaces/${name}/leases/managed-cluster-lease`, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'managed-cluster-lease', namespace: name },
    spec: { renewTime: new Date().toISOString().replace('Z', '000Z') },
  });

export const setRing = (hub: Hub, name: string, ring: string): Promise<unknown> =>
  hub.api.patch(`${CLUSTERS}/${name}`, { metadata: { labels: { ring } } }, 'merge-patch');

const joinHub = async (hub: Hub, name: string): Promise<void> => {
  await hub.api.post('/api/v1/namespaces', { metadata: { name } });
  await hub.api.post(CLUSTERS, {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name, labels: { 'edgeset.io/reach': 'online' } },
    spec: { hubAcceptsClient: true, leaseDurationSeconds: 1 },
  });
  await report(hub, name, 'True');
};

const startMember = async (hub: Hub, name: string, nodes: readonly string[]): Promise<Member> => {
  const cluster = await startCluster();
  const { plane } = cluster;
  await installOcmCrds(plane.api, 'member');
  await cluster.addNodes(nodes);
  await cluster.startManager({ namespace: 'default', args: ['--leader-elect=false'] });
  await joinHub(hub, name);
  const link = await openLink({ host: '127.0.0.1', port: Number(new URL(hub.plane.access.server).port) });
  const kubeconfig = join(plane.dir, 'hub.kubeconfig');
  await writeFile(kubeconfig, kubeconfigText({ ...hub.plane.access, server: `https://127.0.0.1:${link.port}` }, name), {
    mode: 0o600,
  });
  const agent = await startOcm(plane, 'work-agent', [
    `--spoke-cluster-name=${name}`,
    `--workload-source-config=${kubeconfig}`,
    // Default 10s.
    '--status-sync-interval=1s',
  ]);
  return { name, cluster, api: plane.api, agent, link };
};

export const startRig = async ({ members, nodes }: Options): Promise<Rig> => {
  const hub = await startHub();
  const started: Member[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map(async ({ cluster, link }) => Promise.all([cluster.stop(), link.close()])));
    await hub.plane.stop();
  };
  try {
    // One after the other: their starts would only wait for each other.
    for (const name of members) started.push(await startMember(hub, name, nodes));
  } catch (error) {
    await stop();
    throw error;
  }
  return { hub, members: new Map(started.map((member) => [member.name, member])), stop };
};
