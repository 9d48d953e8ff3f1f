import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { daemonSets, isKubeError, type Resource } from '../../../src/kube/index.ts';
import { matches, type Selector } from '../../../src/rollout/index.ts';
import type { StoredDaemonSet } from '../../resources.ts';
import type { ApiServer } from '../../types.ts';

interface Claimable {
  metadata: ObjectMeta & { name: string; uid: string; namespace: string };
}

export const ownerReference = (daemonSet: StoredDaemonSet) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  name: daemonSet.metadata.name,
  uid: daemonSet.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** Reads the DaemonSet uncached: a deleted one must not adopt, and the cache may be stale. */
const mayAdopt = (apiServer: ApiServer, { metadata }: StoredDaemonSet): boolean => {
  const fresh = apiServer.find<StoredDaemonSet>(daemonSets, { namespace: metadata.namespace, name: metadata.name });
  return fresh?.metadata.uid === metadata.uid && fresh.metadata.deletionTimestamp == null;
};

/** The DaemonSet's objects: releases those that no longer match, and adopts matching orphans. */
export const claimObjects = <T extends Claimable>(
  apiServer: ApiServer,
  resource: Resource,
  daemonSet: StoredDaemonSet,
  selector: Selector,
  candidates: { owned: Iterable<T>; orphans: Iterable<T> },
): T[] => {
  const patch = ({ metadata: { namespace, name, uid } }: T, reference: object): boolean => {
    const body = { metadata: { uid, ownerReferences: [reference] } };
    try {
      apiServer.patch(resource, { namespace, name }, body, { type: 'strategic' });
      return true;
    } catch (error) {
      // Deleted, or changed since it was cached.
      if (isKubeError(error, 'NotFound', 'Invalid', 'Conflict')) return false;
      throw error;
    }
  };
  const fits = ({ metadata }: T): boolean => matches(selector, metadata.labels ?? {});

  const claimed: T[] = [];
  // The patches below change the indexes being iterated, which a Map's iterator tolerates.
  for (const object of candidates.owned) {
    if (fits(object)) claimed.push(object);
    else patch(object, { $patch: 'delete', uid: daemonSet.metadata.uid });
  }
  for (const object of candidates.orphans) {
    if (object.metadata.deletionTimestamp != null || !fits(object) || !mayAdopt(apiServer, daemonSet)) continue;
    if (patch(object, ownerReference(daemonSet))) claimed.push(object);
  }
  return claimed;
};
