import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { daemonSets } from '../../kube/index.ts';
import { controllerOf, type Owner } from '../../rollout/index.ts';
import { advancedDaemonSets } from './api/types.ts';

const groupOf = ({ apiVersion }: Pick<Owner, 'apiVersion'>): string => apiVersion.split('/')[0] ?? '';

/** The other DaemonSet, of either kind, that controls the object; undefined for an orphan, and for any other controller. */
export const otherDaemonSetOf = (object: { metadata?: ObjectMeta }, uid: string): Owner | undefined => {
  const owner = controllerOf(object);
  if (owner?.kind !== 'DaemonSet' || owner.uid === uid) return undefined;
  return [daemonSets.group, advancedDaemonSets.group].includes(groupOf(owner)) ? owner : undefined;
};

export const isNativeOwner = (owner: Pick<Owner, 'apiVersion'>): boolean => groupOf(owner) === daemonSets.group;
