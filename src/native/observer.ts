/** What the controller tells whoever measures it. All are optional, and must not throw. */
export interface ControllerObserver {
  /** An act on a pod ended: `deleted`, `gone`, `changed`, `refused`, `unsure`, `fenced`. */
  acted?(result: string): void;
  /** A wave's reservation was written, or was not. */
  reserved?(result: 'written' | 'failed'): void;
  /** A DaemonRollout's status was written, reservations included. */
  statusWritten?(): void;
  /** One pass over a DaemonSet ended. */
  reconciled?(result: 'success' | 'error', seconds: number): void;
  queueDepth?(depth: number): void;
  /** How long a DaemonSet waited for its pass. */
  queueWaited?(seconds: number): void;
}
