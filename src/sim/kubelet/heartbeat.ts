import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { isKubeError, toMicroTime } from '../../kube/index.ts';
import { NODE_LEASES } from '../controllers/index.ts';
import { leases, nodes, type Stored, type StoredNode } from '../resources.ts';
import type { ApiServer } from '../types.ts';
import { healthyStatus } from './node-status.ts';

/** Renews the node's lease, or makes it. The previous one saves a look. */
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
    // Gone with an earlier node of this name, or written by somebody else.
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

/** Says that the node is well. */
export const postStatus = (apiServer: ApiServer, node: StoredNode, ip: string, now: number): void => {
  const status = healthyStatus(node, ip, now);
  apiServer.update<object>(nodes, { ...node, status }, { subresource: 'status' });
};
