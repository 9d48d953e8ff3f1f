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
  /** The name of the last complete one; undefined if there was none. */
  lastComplete: string | undefined;
  /** Hash of the revision that failed and was rolled back. */
  rolledBackHash: string | undefined;
}

/** Why there is none, or somebody must choose it. `rolled-back`: this one failed before. */
export type NoPrior<R extends Identity> = { why: 'not-kept' | 'none' } | { why: 'rolled-back'; revision: R };

/**
 * The revision that was last complete, as long as the present one is not. Otherwise the one before the present one, by number, as
 * in `kubectl rollout undo`.
 */
export const priorRevision = <R extends Identity>({
  revisions,
  present,
  lastComplete,
  rolledBackHash,
}: Kept<R>): { revision: R; why?: undefined } | NoPrior<R> => {
  const complete = revisions.find(({ name }) => name === lastComplete);
  if (lastComplete !== undefined && !complete) return { why: 'not-kept' };
  if (complete && complete.name !== present?.name) return { revision: complete };
  const revision = revisions.findLast(({ name }) => name !== present?.name);
  if (!revision) return { why: 'none' };
  return revision.hash === rolledBackHash ? { why: 'rolled-back', revision } : { revision };
};
