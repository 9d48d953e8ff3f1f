import type { Env } from '../../runtime/index.ts';
import { actsAt, type Deadline, type DecisionStore, deadlineShare, nextStep, type Step } from '../decisions/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { SafeCheck } from '../safe-check/index.ts';
import {
  announcementOf,
  imageBlockOf,
  isOffered,
  isTerminating,
  type Terms,
  type TrackedUpdate,
} from '../updates/index.ts';

export interface StepsOptions {
  env: Env;
  node: string;
  timeZone: string;
  /** How far this device's clock is ahead of the API server's, milliseconds. */
  aheadMs: () => number;
  cache: Pick<PodCache, 'connected'>;
  decisions: Pick<DecisionStore, 'current'>;
  safe: Pick<SafeCheck, 'configured'>;
}

/** Collects the facts for `nextStep`. */
export interface Steps {
  next(tracked: TrackedUpdate): Step;
  /** The deadline by the API server's clock; undefined without one, or if no update is offered. */
  deadlineOf(tracked: TrackedUpdate): Deadline | undefined;
  /** Whether the deadline in these terms lets this device update without its owner by now. */
  isDue(tracked: TrackedUpdate, terms: Terms): boolean;
}

export const createSteps = (options: StepsOptions): Steps => {
  const { env, node, timeZone, aheadMs, cache, decisions, safe } = options;

  const deadlineOf = ({ record }: TrackedUpdate, terms = record.terms): Deadline | undefined => {
    const { announced } = record;
    if (!terms?.deadline || !isOffered(announced)) return undefined;
    return { ...terms.deadline, share: deadlineShare({ ...record, node, revision: announced.revision }) };
  };

  /** The deadline by this device's clock. */
  const localDeadlineOf = (tracked: TrackedUpdate, terms?: Terms): Deadline | undefined => {
    const deadline = deadlineOf(tracked, terms);
    return deadline && { ...deadline, at: deadline.at + aheadMs() };
  };

  return {
    next(tracked) {
      const { pod, record } = tracked;
      const announced = pod && !isTerminating(pod) ? announcementOf(pod) : undefined;
      if (!pod || !announced || record.updateInProgress) return { kind: 'none' };
      return nextStep({
        now: env.clock.now(),
        timeZone,
        connected: cache.connected(),
        announced,
        imageBlocks: imageBlockOf(pod, announced.revision),
        decision: decisions.current(record),
        deadline: localDeadlineOf(tracked),
        safeConfigured: safe.configured,
      });
    },
    deadlineOf: (tracked) => deadlineOf(tracked),
    isDue(tracked, terms) {
      const deadline = localDeadlineOf(tracked, terms);
      return deadline !== undefined && env.clock.now() >= actsAt(deadline);
    },
  };
};
