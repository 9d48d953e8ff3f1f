import type { Resource } from '../kube/index.ts';
import type { DaemonRollout, DaemonRolloutStatus } from '../rollout/index.ts';
import { controllingDaemonSet } from './kind.ts';

/** Reason of the conditions of a DaemonRollout that nobody keeps up to date. */
export const NOT_MANAGED = 'NotManaged';

/** What is kept of a DaemonRollout that belongs to a DaemonSet of one kind. */
export interface RolloutView {
  /** Key of the DaemonSet. */
  daemonSet: string;
  /** It speaks of the present: it must be kept up to date, or taken back. */
  saysManaged: boolean;
}

export const saysManaged = (status: DaemonRolloutStatus | undefined): boolean =>
  status?.conditions?.some(({ reason }) => reason !== NOT_MANAGED) ?? false;

export const toRolloutView = (
  rollout: DaemonRollout,
  resource: Pick<Resource, 'group' | 'kind'>,
): RolloutView | undefined => {
  const owner = controllingDaemonSet(rollout, resource);
  return (
    owner && { daemonSet: `${rollout.metadata.namespace}/${owner.name}`, saysManaged: saysManaged(rollout.status) }
  );
};
