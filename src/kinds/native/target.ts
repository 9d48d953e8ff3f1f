import { newestRevision, type RevisionView, type Target } from '../../controller/index.ts';
import { type Clock, nextAllowedAt } from '../../runtime/index.ts';
import type { NativeView } from './native-view.ts';

/** How long the watch may take to deliver the observed revision before it is read from the API server. */
const REREAD_AFTER_MS = 1_000;
const REREAD_EVERY_MS = 10_000;

export interface TargetOptions {
  clock: Clock;
  /** The revisions that the watch has delivered so far. */
  cached: () => Iterable<RevisionView>;
  /** A consistent read of the DaemonSet's revisions, then of its generation, into its cache; undefined if it is gone. */
  read: (
    view: NativeView,
    signal: AbortSignal,
  ) => Promise<{ revisions: readonly RevisionView[]; generation: number } | undefined>;
}

const unobserved = (recheckAt: number): Target => ({ kind: 'held', hold: { kind: 'unobserved' }, recheckAt });

/**
 * Finds the revision that a DaemonSet asks for: the newest that it owns, once the native controller has observed the
 * current generation. The watches are not ordered among each other, so the status may arrive before the revision: unless
 * the newest one has the current template, the revisions are listed. Such a list is final for the generation, since the
 * native controller writes the revision before the status, and a revision that an API server of another version has
 * written may differ from the template in defaults. A later generation may have another budget: it is decided by that one then.
 */
export const createTargetFinder = ({ clock, cached, read }: TargetOptions) => {
  let waitingFor: { generation: number; since: number } | undefined;
  /** What the last consistent read found: valid for its generation. */
  let found: { generation: number; revision: RevisionView } | undefined;
  let lastRead = Number.NEGATIVE_INFINITY;

  return async (view: NativeView, signal: AbortSignal): Promise<Target> => {
    const now = clock.now();
    const { generation } = view;
    if (view.observedGeneration < generation) return unobserved(Number.POSITIVE_INFINITY);
    const newest = newestRevision(cached(), view.templateDigest);
    if (newest?.templateDigest === view.templateDigest) {
      waitingFor = undefined;
      return { kind: 'known', revision: newest };
    }
    if (found?.generation === generation && (newest?.number ?? 0) <= found.revision.number)
      return { kind: 'known', revision: found.revision };
    if (waitingFor?.generation !== generation || waitingFor.since > now) waitingFor = { generation, since: now };
    const readAt = Math.max(waitingFor.since + REREAD_AFTER_MS, nextAllowedAt(lastRead, REREAD_EVERY_MS, now));
    if (now < readAt) return unobserved(readAt);
    lastRead = now;
    const fresh = await read(view, signal);
    const revision =
      fresh?.generation === generation ? newestRevision(fresh.revisions, view.templateDigest) : undefined;
    if (!revision) return unobserved(now + REREAD_EVERY_MS);
    found = { generation, revision };
    return { kind: 'known', revision };
  };
};
