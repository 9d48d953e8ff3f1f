import type { Cause } from '../../words/index.ts';
import type { Breaker } from '../fleet/breaker.ts';
import type { DriftingImage } from '../fleet/image-drift.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import type { Halt } from '../fleet/state.ts';
import type { CalendarState } from '../plan/calendar.ts';
import { managerReplacesPods, type Policy } from '../policy/policy.ts';
import type { PolicyError } from '../policy/values.ts';

/** Why no update starts on any node of a DaemonSet although some are not at the target. */
export type Hold =
  /** Our caches are not in sync yet, or are behind a write of our own. */
  | { kind: 'unsynced' }
  /**
   * The controller of the pods has not recorded the DaemonSet's current template yet. A reader that knows more says it:
   * `what`, as a sentence without its full stop, and `remedy`.
   */
  | { kind: 'unobserved'; what?: string; remedy?: string }
  /** `what`: what is invalid other than the policy, as a sentence without its full stop. */
  | { kind: 'invalid'; errors: readonly PolicyError[]; what?: string }
  /** Something about the DaemonSet cannot be computed. `what`: a sentence. */
  | { kind: 'error'; what: string }
  /** The API server refuses new pods of the current template, and says why: none would take the place of an old one. */
  | { kind: 'refused'; message: string }
  /** The DaemonSet is being deleted. */
  | { kind: 'deleted' }
  /** With the strategy ota the owner of each device decides. */
  | { kind: 'owner'; deadline?: { at: string; spreadMs: number } }
  /** The update strategy is OnDelete: users update nodes by deleting pods. */
  | { kind: 'manual' }
  | { kind: 'paused' }
  /** The budget is zero. */
  | { kind: 'frozen' }
  /** `failures`: nodes on which the target has failed and not recovered by itself. `drift`: images that differ between nodes. */
  | { kind: 'halted'; halt: Halt; failures: number; drift?: readonly DriftingImage[] }
  /** No window of the plan is open, or a freeze forbids it: until when, epoch ms, and why there is a freeze. */
  | { kind: 'window'; until: number; freeze?: string }
  /** Failures and suspects together reach the threshold; suspects may still come back. */
  | { kind: 'waiting'; breaker: Breaker };

/** Holds that the ledger does not know of. */
export type OutsideHold = Extract<
  Hold,
  { kind: 'unsynced' | 'unobserved' | 'invalid' | 'error' | 'refused' | 'deleted' }
>;

const ownerDecides = ({ otaDeadline, otaDeadlineSpreadMs }: Policy): Hold => ({
  kind: 'owner',
  ...(otaDeadline !== undefined && {
    deadline: { at: new Date(otaDeadline).toISOString(), spreadMs: otaDeadlineSpreadMs },
  }),
});

export const holdOfCalendar = ({ open, closedBy, opensAt }: CalendarState): Hold | undefined =>
  open
    ? undefined
    : { kind: 'window', until: opensAt, ...(closedBy?.kind === 'freeze' && { freeze: closedBy.reason ?? '' }) };

/**
 * Where windows go by the time of each node: all that is left to update waits for one, or for the end of a freeze. The state of the
 * node that comes first; undefined while another one is updated, or may be.
 */
const closedForTheRest = ({ calendar, tally, records }: Ledger): CalendarState | undefined => {
  const { updating, outdated, broken, settling } = tally.phases;
  const count = (cause: Cause): number => tally.causes.get(cause) ?? 0;
  if (count('window') === 0) return undefined;
  if (updating + outdated + broken + settling + count('image') + count('refused') > 0) return undefined;
  let first: CalendarState | undefined;
  for (const { status, node } of records()) {
    const state = status.cause === 'window' ? calendar.stateOf(node?.timeZone) : undefined;
    if (state && (!first || state.opensAt < first.opensAt)) first = state;
  }
  return first;
};

/** Undefined while the plan's calendar is open for some node that is left, as far as is known. */
const closedCalendar = (ledger: Ledger): Hold | undefined => {
  const state = ledger.calendar.forAll() ?? closedForTheRest(ledger);
  return state && holdOfCalendar(state);
};

/** What holds the rollout: the first that applies. */
export const holdOf = (
  ledger: Ledger,
  outside: OutsideHold | undefined,
  budget: number,
  breaker: Breaker,
  drift: readonly DriftingImage[],
): Hold | undefined => {
  const { policy, state } = ledger;
  if (outside) return outside;
  if (!state.target) return { kind: 'unobserved' };
  if (policy.strategy === 'manual') return { kind: 'manual' };
  if (policy.paused) return { kind: 'paused' };
  if (state.halted) return { kind: 'halted', halt: state.halted, failures: breaker.failures, drift };
  if (budget === 0 && managerReplacesPods(policy)) return { kind: 'frozen' };
  if (breaker.open) return { kind: 'waiting', breaker };
  const closed = managerReplacesPods(policy) ? closedCalendar(ledger) : undefined;
  if (closed) return closed;
  return policy.strategy === 'ota' ? ownerDecides(policy) : undefined;
};
