import type { WorkQueueMetrics } from '../kube/index.ts';

/** What the controller tells whoever measures it. All are optional, and must not throw. */
export interface ControllerMetrics {
  /** A write to a pod ended: what was done (`deed.ts`), `fenced`, `announced`, `withdrawn`, or why not (`Outcome`). */
  podWritten?(result: string): void;
  /** A wave's reservation was written, or was not. */
  reserved?(result: 'written' | 'failed'): void;
  /** A DaemonRollout's status was written, reservations included. */
  statusWritten?(): void;
  /** The queue of DaemonSets that wait for their pass. */
  queue?: WorkQueueMetrics;
}
