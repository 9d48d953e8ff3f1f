import { newestRevision, type RevisionView, type Target, turnAfter } from '../controller/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { NativeView } from './native-view.ts';

/** How long the watch may take to deliver the revision that the status speaks of before it is read afresh. */
const REREAD_AFTER_MS = 1_000;
const REREAD_EVERY_MS = 10_000;

export interface TargetOptions {
  clock: Clock;
  /** The revisions that the watch has delivered so far. */
  cached: () => Iterable<RevisionView>;
  /** A consistent read of the DaemonSet's revisions, then of its generation; undefined where it is gone. */
  read: (
    view: NativeView,
    signal: AbortSignal,
  ) => Promise<{ revisions: readonly RevisionView[]; generation: number } | undefined>;
}

const unobserved = (recheckAt: number): Target => ({ kind: 'held', hold: { kind: 'unobserved' }, recheckAt });

/**
 * Finds the revision that a DaemonSet asks for: the newest that it owns, once the native controller has observed the
 * present generation. Watches are not ordered among themselves, so the status may arrive before the revision: the
 * template must be the same, or the revisions are listed afresh. What such a list says is final while the DaemonSet still
 * is of that generation, since the native controller writes the revision before the status; and a revision written by an
 * API server of another version may differ from the template in defaults. A later generation has a budget of its own: the
 * watch has to deliver it first.
 */
export const createTargetFinder = ({ clock, cached, read }: TargetOptions) => {
  let waitingFor: { generation: number; since: number } | undefined;
  /** What the last consistent read found, which holds for as long as the generation does. */
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
    const readAt = Math.max(waitingFor.since + REREAD_AFTER_MS, turnAfter(lastRead, REREAD_EVERY_MS, now));
    if (now < readAt) return unobserved(readAt);
    lastRead = now;
    const there = await read(view, signal);
    const revision =
      there?.generation === generation ? newestRevision(there.revisions, view.templateDigest) : undefined;
    if (!revision) return unobserved(now + REREAD_EVERY_MS);
    found = { generation, revision };
    return { kind: 'known', revision };
  };
};
