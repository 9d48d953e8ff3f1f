import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { NodeStatus } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, leases, nodes, toMicroTime } from '../../src/kube/index.ts';
import { NODE_LEASES } from '../controllers/index.ts';
import { type Stored, type StoredNode, toTime } from '../resources.ts';
import type { ApiServer } from '../types.ts';

/** Node info that makes clear that the node is simulated. */
const INFO = {
  architecture: 'amd64',
  bootID: '',
  containerRuntimeVersion: 'simulated://1.0',
  kernelVersion: '6.12.0',
  kubeProxyVersion: '',
  kubeletVersion: 'v1.34.4',
  machineID: '',
  operatingSystem: 'linux',
  osImage: 'simulated',
  systemUUID: '',
};
const RESOURCES = { cpu: '64', 'ephemeral-storage': '256Gi', memory: '256Gi', pods: '500' };

const CONDITIONS = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

/** The labels that a kubelet sets on its node. */
export const kubeletLabels = (name: string): Record<string, string> => ({
  'beta.kubernetes.io/arch': 'amd64',
  'beta.kubernetes.io/os': 'linux',
  'kubernetes.io/arch': 'amd64',
  'kubernetes.io/hostname': name,
  'kubernetes.io/os': 'linux',
});

/** The node status that a healthy kubelet posts. */
const healthyStatus = (node: StoredNode, ip: string, nowMs: number): NodeStatus => {
  const now = toTime(nowMs);
  const present = node.status?.conditions ?? [];
  const conditions = CONDITIONS.map(([type, status, reason, message]) => {
    const before = present.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime };
  });
  const others = present.filter(({ type }) => !CONDITIONS.some(([own]) => own === type));
  const status: object = {
    addresses: [
      { type: 'InternalIP', address: ip },
      { type: 'Hostname', address: node.metadata.name },
    ],
    capacity: RESOURCES,
    allocatable: RESOURCES,
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    ...node.status,
    nodeInfo: node.status?.nodeInfo?.kubeletVersion ? node.status.nodeInfo : INFO,
    conditions: [...others, ...conditions],
  };
  return status;
};

/** Renews the node's lease, or creates it. Passing the previous one saves a read. */
export const renewLease = (
  apiServer: ApiServer,
  node: StoredNode,
  previous: Stored<Lease> | undefined,
  durationSeconds: number,
  now: number,
): Stored<Lease> => {
  const { name, uid } = node.metadata;
  const ref = { namespace: NODE_LEASES, name };
  const renewTime = toMicroTime(now);
  const renewed = (lease: Stored<Lease>): Stored<Lease> =>
    apiServer.update<object>(leases, { ...lease, spec: { ...lease.spec, renewTime } }) as Stored<Lease>;
  const lease = previous ?? apiServer.find<Stored<Lease>>(leases, ref);
  try {
    if (lease) return renewed(lease);
  } catch (error) {
    // Deleted with an earlier node of this name, or updated by another client.
    if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
    const fresh = apiServer.find<Stored<Lease>>(leases, ref);
    if (fresh) return renewed(fresh);
  }
  return apiServer.create<object>(leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...ref, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds: durationSeconds, renewTime },
  }) as Stored<Lease>;
};

export const postStatus = (apiServer: ApiServer, node: StoredNode, ip: string, now: number): void => {
  const status = healthyStatus(node, ip, now);
  apiServer.update<object>(nodes, { ...node, status }, { subresource: 'status' });
};
