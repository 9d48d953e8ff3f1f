import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { isKubeError, toMicroTime } from '../../kube/index.ts';
import { NODE_LEASES } from '../controllers/index.ts';
import { type Kept, type KeptNode, leases, nodes } from '../resources.ts';
import type { Machinery } from '../types.ts';
import { healthyStatus } from './node-status.ts';

/** Renews the node's lease, or makes it. The previous one saves a look. */
export const renewLease = (
  machinery: Machinery,
  node: KeptNode,
  previous: Kept<Lease> | undefined,
  durationSeconds: number,
  now: number,
): Kept<Lease> => {
  const { name, uid } = node.metadata;
  const ref = { namespace: NODE_LEASES, name };
  const renewTime = toMicroTime(now);
  const renewed = (lease: Kept<Lease>): Kept<Lease> =>
    machinery.update<object>(leases, { ...lease, spec: { ...lease.spec, renewTime } }) as Kept<Lease>;
  const lease = previous ?? machinery.find<Kept<Lease>>(leases, ref);
  try {
    if (lease) return renewed(lease);
  } catch (error) {
    // Gone with an earlier node of this name, or written by somebody else.
    if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
    const fresh = machinery.find<Kept<Lease>>(leases, ref);
    if (fresh) return renewed(fresh);
  }
  return machinery.create<object>(leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...ref, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds: durationSeconds, renewTime },
  }) as Kept<Lease>;
};

/** Says that the node is well. */
export const postStatus = (machinery: Machinery, node: KeptNode, ip: string, now: number): void => {
  const status = healthyStatus(node, ip, now);
  machinery.update<object>(nodes, { ...node, status }, { subresource: 'status' });
};
