import type { Resource } from '../kube/index.ts';
import { controllerOf, type DaemonRollout, type DaemonRolloutStatus, type Owner } from '../rollout/index.ts';

/** Reason of the conditions of a DaemonRollout that nobody keeps up to date. */
export const NOT_MANAGED = 'NotManaged';

/** What is kept of a DaemonRollout that belongs to a DaemonSet of one kind. */
export interface RolloutView {
  /** Key of the DaemonSet. */
  daemonSet: string;
  /** It speaks of the present: it must be kept up to date, or taken back. */
  claims: boolean;
}

/** The DaemonSet of this kind, in any of its versions, that the rollout object belongs to; undefined for those of others. */
export const daemonSetOf = (
  rollout: DaemonRollout,
  { group, kind }: Pick<Resource, 'group' | 'kind'>,
): Owner | undefined => {
  const owner = controllerOf(rollout);
  return owner?.kind === kind && owner.apiVersion.split('/')[0] === group ? owner : undefined;
};

export const makesClaims = (status: DaemonRolloutStatus | undefined): boolean =>
  status?.conditions?.some(({ reason }) => reason !== NOT_MANAGED) ?? false;

export const toRolloutView = (
  rollout: DaemonRollout,
  resource: Pick<Resource, 'group' | 'kind'>,
): RolloutView | undefined => {
  const owner = daemonSetOf(rollout, resource);
  return owner && { daemonSet: `${rollout.metadata.namespace}/${owner.name}`, claims: makesClaims(rollout.status) };
};
