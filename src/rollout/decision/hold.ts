import type { Breaker } from '../ledger/breaker.ts';
import type { Halt } from '../ledger/state.ts';
import type { PolicyError } from '../policy/policy.ts';

/** Why no act begins on any node of a DaemonSet, although some are not at the target. */
export type Hold =
  /** Our caches are not yet consistent, or behind a write of our own. */
  | { kind: 'unsynced' }
  /** The native controller has not yet recorded the template that the DaemonSet has now. */
  | { kind: 'unobserved' }
  /** `what`: what else than the policy cannot be worked with, as a sentence without its stop. */
  | { kind: 'invalid'; errors: readonly PolicyError[]; what?: string }
  /** The DaemonSet is being deleted. */
  | { kind: 'deleted' }
  /** In the OTA model the owner of each device decides. */
  | { kind: 'owner'; deadline?: { at: string; spreadMs: number } }
  /** The update strategy is OnDelete: whoever deletes a pod updates its node. */
  | { kind: 'manual' }
  | { kind: 'paused' }
  /** The budget is zero. */
  | { kind: 'frozen' }
  | { kind: 'halted'; halt: Halt }
  /** Failures and suspects together reach the threshold; suspects may yet come back. */
  | { kind: 'waiting'; breaker: Breaker };

/** Holds that come from outside the ledger. */
export type OutsideHold = Extract<Hold, { kind: 'unsynced' | 'unobserved' | 'invalid' | 'deleted' }>;
