import type { DaemonRolloutStatus } from '../../words/index.ts';
import { lastCompleteName } from './revisions.ts';

/** What tells two revisions apart. */
interface Identity {
  name: string;
  hash: string;
}

export interface Kept<R extends Identity> {
  /** Sorted by number, oldest first. */
  revisions: readonly R[];
  /** The revision of the DaemonSet's template; undefined until its controller has recorded it. */
  present: Identity | undefined;
  status: Pick<DaemonRolloutStatus, 'lastComplete' | 'history'> | undefined;
  /** Hash of the revision that failed and was rolled back. */
  rolledBackHash: string | undefined;
}

/** Why there is none, or somebody must choose it. `failed`: this one did. */
export type NoPrior<R extends Identity> = { why: 'not-kept' | 'none' } | { why: 'failed'; revision: R };

/** Its last rollout was halted and did not end as complete, even if somebody resumed it. */
const hasFailed = (hash: string, { status, rolledBackHash }: Pick<Kept<Identity>, 'status' | 'rolledBackHash'>) => {
  const last = status?.history?.find(({ to }) => to.hash === hash);
  return last?.result !== 'Complete' && (last?.haltedAt !== undefined || hash === rolledBackHash);
};

/**
 * The revision that was last complete, as long as the present one is not. Otherwise the one before the present one, by number, as
 * in `kubectl rollout undo`.
 */
export const priorRevision = <R extends Identity>(kept: Kept<R>): { revision: R; why?: undefined } | NoPrior<R> => {
  const { revisions, present } = kept;
  const lastComplete = lastCompleteName(kept.status);
  const complete = revisions.find(({ name }) => name === lastComplete);
  if (lastComplete !== undefined && !complete) return { why: 'not-kept' };
  const isFormer = complete && complete.name !== present?.name;
  const revision = isFormer ? complete : revisions.findLast(({ name }) => name !== present?.name);
  if (!revision) return { why: 'none' };
  return hasFailed(revision.hash, kept) ? { why: 'failed', revision } : { revision };
};
