import { compareNames } from '../../text/index.ts';
import type { Breaker } from '../fleet/breaker.ts';
import type { DriftingImage } from '../fleet/image-drift.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import type { Action } from './action.ts';
import { failedCheckOf } from './stages.ts';

const FIRST_NODES = 10;

/** Every online eligible node runs the target, available, and no update is in flight. */
export const isComplete = ({ state, tally }: Ledger): boolean =>
  state.target !== undefined && tally.phases.updated === tally.online && tally.inFlight === 0;

/**
 * While a stage is closed, nodes that join it or come back there stay on the revision that was last complete, so the target must not take
 * its place. If no revision was complete, there is nothing to keep them on.
 */
const mayFinish = ({ stages, state, tally }: Ledger): boolean =>
  state.lastComplete === undefined || tally.stages.every((_, index) => stages.isOpen(index));

/** Images that differ halt the rollout. The user may have resumed nevertheless, or replace pods by hand. */
export const haltsForDrift = ({ policy, state }: Ledger, drift: readonly DriftingImage[]): boolean =>
  policy.onImageDrift === 'halt' && policy.strategy !== 'manual' && drift.length > 0 && !state.driftForgiven;

/** A change of the rollout as a whole. A decision makes at most one, so that the next sees its result. */
export const transitionOf = (
  ledger: Ledger,
  { breaker, drift, complete }: { breaker: Breaker; drift: readonly DriftingImage[]; complete: boolean },
  now: number,
): Action | undefined => {
  const { policy, state } = ledger;
  const { target, halted, lastComplete } = state;
  if (!target) return undefined;
  const resumed = policy.resume?.hash === target.hash ? policy.resume.value : undefined;
  if (resumed !== undefined && resumed !== state.resumed) return { type: 'resume', value: resumed, because: 'resumed' };
  const haltedForDrift = halted?.reason === 'ImageDrift';
  // Failures and failed checks count for more: they may be rolled back.
  if (halted && !haltedForDrift) {
    const mayRollBack = policy.onFailure === 'rollback' && halted.reason !== 'RolledBack' && !policy.paused;
    const previous = mayRollBack ? lastComplete : undefined;
    return previous && previous.hash !== target.hash
      ? { type: 'rollback', to: previous, because: 'rolled-back' }
      : undefined;
  }
  if (breaker.mustHalt && policy.strategy !== 'manual') {
    const nodes = [...ledger.failing()].map((record) => record.name).toSorted(compareNames);
    return {
      type: 'halt',
      halt: { at: now, reason: 'Failures', nodes: nodes.slice(0, FIRST_NODES) },
      because: 'failures',
    };
  }
  const failedCheck = failedCheckOf(ledger);
  if (failedCheck && policy.strategy !== 'manual') {
    const { stage, check } = failedCheck;
    return {
      type: 'halt',
      halt: { at: now, reason: 'CheckFailed', nodes: [], check: `${stage}/${check}` },
      because: 'check-failed',
    };
  }
  if (haltsForDrift(ledger, drift))
    return haltedForDrift
      ? undefined
      : { type: 'halt', halt: { at: now, reason: 'ImageDrift', nodes: [] }, because: 'images-differ' };
  if (haltedForDrift) return { type: 'end-halt', because: 'images-agree' };
  const anyUpdated = ledger.tally.phases.updated > 0;
  const alreadyFinished = state.finishedAt !== undefined && lastComplete?.hash === target.hash;
  return complete && anyUpdated && !alreadyFinished && mayFinish(ledger)
    ? { type: 'complete', because: 'all-updated' }
    : undefined;
};
