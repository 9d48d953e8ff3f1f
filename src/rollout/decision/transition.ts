import type { Breaker } from '../fleet/breaker.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import type { Action } from './action.ts';
import { failedCheckOf } from './stages.ts';

const FIRST_NODES = 10;

/** Every online eligible node runs the target, available, and no update is in flight. */
export const isComplete = ({ state, tally }: Ledger): boolean =>
  state.target !== undefined && tally.phases.updated === tally.online && tally.inFlight === 0;

/** Until then, nodes that join a closed stage, or come back there, are to be kept from the target: another revision is last complete. */
const isEveryStageOpen = ({ stages, tally }: Ledger): boolean => tally.stages.every((_, index) => stages.isOpen(index));

/** A change of the rollout as a whole. A decision makes at most one, so that the next sees its result. */
export const transitionOf = (ledger: Ledger, breaker: Breaker, complete: boolean, now: number): Action | undefined => {
  const { policy, state } = ledger;
  const { target, halted, lastComplete } = state;
  if (!target) return undefined;
  const resumed = policy.resume?.hash === target.hash ? policy.resume.value : undefined;
  if (resumed !== undefined && resumed !== state.resumed) return { type: 'resume', value: resumed, because: 'resumed' };
  if (halted) {
    const mayRollBack = policy.onFailure === 'rollback' && halted.reason !== 'RolledBack' && !policy.paused;
    const previous = mayRollBack ? lastComplete : undefined;
    return previous && previous.hash !== target.hash
      ? { type: 'rollback', to: previous, because: 'rolled-back' }
      : undefined;
  }
  if (breaker.mustHalt && policy.strategy !== 'manual') {
    const nodes = [...ledger.failing()].map((record) => record.name).toSorted();
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
  const anyUpdated = ledger.tally.phases.updated > 0;
  const alreadyFinished = state.finishedAt !== undefined && lastComplete?.hash === target.hash;
  return complete && anyUpdated && !alreadyFinished && isEveryStageOpen(ledger)
    ? { type: 'complete', because: 'all-updated' }
    : undefined;
};
