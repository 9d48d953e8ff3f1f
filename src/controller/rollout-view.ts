import { controllerOf, type DaemonRollout, type DaemonRolloutStatus } from '../rollout/index.ts';

/** Reason of the conditions of a DaemonRollout that nobody keeps up to date. */
export const NOT_MANAGED = 'NotManaged';

/** What is kept of a DaemonRollout that belongs to an apps/v1 DaemonSet. */
export interface RolloutView {
  /** It speaks of the present: it must be kept up to date, or taken back. */
  claims: boolean;
}

/** UID of the apps/v1 DaemonSet that it belongs to; undefined for those of other kinds. */
export const daemonSetOf = (rollout: DaemonRollout): string | undefined => {
  const owner = controllerOf(rollout);
  return owner?.kind === 'DaemonSet' && owner.apiVersion === 'apps/v1' ? owner.uid : undefined;
};

export const makesClaims = (status: DaemonRolloutStatus | undefined): boolean =>
  status?.conditions?.some(({ reason }) => reason !== NOT_MANAGED) ?? false;

export const toRolloutView = (rollout: DaemonRollout): RolloutView | undefined =>
  daemonSetOf(rollout) === undefined ? undefined : { claims: makesClaims(rollout.status) };
