import { type BackoffOptions } from '../../runtime/index.ts';
import type { DiskMargin } from './disk-space.ts';

/** Bounds of one request for a revision's images. */
export interface PullLimits {
  /** Attempts until the request counts as failed. */
  attempts: number;
  /** Before the next attempt. */
  backoff: BackoffOptions;
  /**
   * Longest wait for one image at the first attempt: the CRI tells nothing of a pull's progress, so that a registry that
   * says nothing cannot be told from a slow one. It doubles with each further attempt, up to `longestPullMs`, by which
   * a large image on a slow link gets there in the end; mostly the runtime still has the layers of the attempt before.
   */
  pullMs: number;
  longestPullMs: number;
  disk: DiskMargin;
  /** Between attempts to report a result to an API server that is out of reach. */
  reportBackoff: BackoffOptions;
}

export const DEFAULT_LIMITS: PullLimits = {
  attempts: 6,
  backoff: { baseMs: 5_000, maxMs: 80_000 },
  pullMs: 300_000,
  longestPullMs: 1_200_000,
  // The kubelet evicts below 5 to 15 % (imagefs.available), as it is set up; half a GiB is room for one image more.
  disk: { bytes: 512 * 1024 * 1024, share: 0.05 },
  reportBackoff: { baseMs: 1_000, maxMs: 30_000 },
};
