import { type Breaker, breakerOf } from '../fleet/breaker.ts';
import type { DriftingImage } from '../fleet/image-drift.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import type { IntOrPercent } from '../policy/int-or-percent.ts';
import { managerReplacesPods, surges } from '../policy/policy.ts';
import { type Action, stageReason } from './action.ts';
import { budgetOf, createRoom, type Usage } from './budget.ts';
import { type FirstWave, firstWaveOf, isUsedUp } from './first-wave.ts';
import { type Hold, holdOf, type OutsideHold } from './hold.ts';
import { requestImages } from './images.ts';
import { deleteSurgedOutPods, reserveSlots, resolveReservations } from './slots.ts';
import { assessStage, type StageStatus } from './stages.ts';
import { isComplete, transitionOf } from './transition.ts';

export interface Summary {
  budget: number;
  usage: Usage;
  breaker: Breaker;
  /** How many nodes may try the revision; undefined where it need not prove itself. */
  firstWave: FirstWave | undefined;
  /** Images of the target that are not the same on all nodes that run it. */
  drift: readonly DriftingImage[];
  /** Undefined: updates may start. */
  hold: Hold | undefined;
  /** Why the API server refuses new pods, whether or not that holds the rollout; undefined while it accepts them. */
  refusal: string | undefined;
  /** Every online eligible node runs the target revision, available, and no update is in flight. */
  complete: boolean;
  /** Nodes with a healthy old pod that wait only because their group or stage has as many down as it may. */
  withoutRoom: number;
  /** The open stage of the plan; undefined without stages. */
  stage: StageStatus | undefined;
}

export interface Decision {
  actions: Action[];
  /** When to decide again even if nothing happens, epoch ms; Infinity for never. */
  wakeAt: number;
  summary: Summary;
}

/** What the ledger does not know. */
export interface Circumstances {
  /** See `Summary`. */
  refusal?: string | undefined;
  /** The first wave of policies that do not set it. Default: the failure threshold. */
  firstWave?: IntOrPercent | undefined;
}

/**
 * The only decision, and a pure function. Controllers carry it out, status and metrics show its summary, `plan` prints it,
 * the simulation and the property tests call it. Call `ledger.tick(now)` first.
 */
export const decide = (
  ledger: Ledger,
  outside: OutsideHold | undefined,
  now: number,
  { refusal, firstWave: managers }: Circumstances = {},
): Decision => {
  const { policy, tally, state } = ledger;
  const managed = managerReplacesPods(policy);
  // Owners and users who replace pods themselves have no budget.
  const budget = managed ? budgetOf(policy, tally) : 0;
  const counted = breakerOf(ledger.termsOfBreaker(), tally, state.updatesStarted, budget);
  const firstWave = firstWaveOf(ledger, counted, managers);
  const breaker = { ...counted, mustHalt: counted.mustHalt || isUsedUp(firstWave, counted) };
  const complete = outside === undefined && isComplete(ledger);
  const drift = ledger.imageDrift();
  const hold = holdOf(ledger, outside, budget, breaker, drift);
  const room = createRoom(budget, tally, surges(policy), firstWave);
  const planTime = ledger.planTime(now);
  const staging = assessStage(ledger, hold, planTime);
  const summary: Summary = {
    budget,
    usage: { ...room.usage },
    breaker,
    firstWave,
    drift,
    hold,
    refusal: hold?.kind === 'refused' ? hold.message : refusal,
    complete,
    withoutRoom: 0,
    stage: staging?.stand,
  };
  const wakeAt = Math.min(ledger.nextDueAt(), (staging?.wakeAt ?? Number.POSITIVE_INFINITY) + (now - planTime));

  // The cache may be incomplete: start nothing, and release nothing.
  if (outside?.kind === 'unsynced') return { actions: [], wakeAt, summary };
  const stageStep = staging?.action && { ...staging.action, because: stageReason(staging.action) };
  const transition = outside ? undefined : (transitionOf(ledger, summary, now) ?? stageStep);
  // Updates that owners have approved continue; nodes without an approval are no candidates.
  const held = hold !== undefined && !(hold.kind === 'owner' && managed);
  const mayStart = !held && transition === undefined;
  const actions = resolveReservations(ledger, mayStart, room, now);
  if (transition) actions.unshift(transition);
  // What a closed window found under way is brought to its end.
  if (mayStart || (hold?.kind === 'window' && !transition)) actions.push(...deleteSurgedOutPods(ledger));
  if (mayStart) actions.push(...reserveSlots(ledger, room));
  if (!hold && managed) summary.withoutRoom = ledger.waitingForRoom();
  const { size } = ledger.unannounced();
  if (!outside && size > 0) actions.push({ type: 'announce', pods: size, because: 'stale-condition' });
  if (!outside && !transition) {
    const reserved = new Set(actions.flatMap((action) => (action.type === 'reserve' ? [action.node] : [])));
    actions.push(...requestImages(ledger, hold, budget, reserved));
  }
  return { actions, wakeAt, summary };
};
