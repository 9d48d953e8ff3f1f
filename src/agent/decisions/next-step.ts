import { windowsAt } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import { planWeekdays } from '../../words/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { SafeCheck } from '../safe-check/index.ts';
import { type Choice, type Decision, type Update, type WaitReason, type WithheldReason, weekdays } from '../types.ts';
import {
  announcementOf,
  imageBlockOf,
  isOffered,
  isTerminating,
  type Terms,
  type TrackedUpdate,
} from '../updates/index.ts';
import { actsAt, deadlineShare } from './deadline.ts';
import { isTimeOfDay } from './parse-decision.ts';
import { tonightOf } from './tonight.ts';
import type { Deadline, DecisionStore, Step, StepFacts } from './types.ts';

// Without a battery-backed clock, a device may start years in the past. A clock far before the time of the decision can't
// tell when a postponement ends, so the owner is asked again, which approves nothing.
const CLOCK_WENT_BACK_MS = 15 * 60_000;

const wait = (reason: WaitReason, message: string, until?: number): Step => ({ kind: 'wait', reason, message, until });

const withheld: Readonly<Record<WithheldReason, string>> = {
  Paused: 'The update is paused on all devices. The decision is kept and applies again when the pause ends.',
  Partition: "It is not this device's turn yet. The decision is kept until then.",
  NodeSelector: 'The update is currently meant for other devices. The decision is kept in case that changes.',
  NodeNotEligible: 'The app could not start on this device at the moment. The decision is kept until it can.',
  NotOffered: 'The update is currently not offered to this device. The decision is kept until it is offered again.',
};

/** What blocks an approved update, regardless of its window. */
const blocked = ({ connected, announced, imageBlocks }: StepFacts): Step | undefined => {
  if (announced.need === 'halted')
    return wait('Halted', 'This version was stopped on all devices because it fails on some of them.');
  if (announced.need === 'withheld') return wait(announced.reason, withheld[announced.reason]);
  if (!connected) return wait('Disconnected', 'The device is offline. The update continues once it is connected.');
  if (imageBlocks !== undefined) return wait('ImageNotReady', imageBlocks);
  return undefined;
};

const approved = (facts: StepFacts, choice: Choice & { choice: 'approve' }, why: 'owner' | 'deadline'): Step => {
  const { now, timeZone, safeConfigured, announced } = facts;
  const { when } = choice;
  const block = blocked(facts);
  if (block && (announced.need === 'halted' || announced.need === 'withheld')) return block;
  if (when.type === 'safe' && !safeConfigured)
    return wait('NoSafeCheck', 'The device no longer has a safety check. Decide again.');
  if (when.type === 'now' || when.type === 'safe') return block ?? { kind: 'act', why };
  const { from, to, days } = when;
  // The decisions may be of another version of the agent: a time that this one does not know has not come.
  if (!isTimeOfDay(from) || !isTimeOfDay(to))
    throw new Error(`when to carry out the decision is not known: ${JSON.stringify(when)}`);
  const planDays = days && planWeekdays.filter((_, index) => days.some((day) => day === weekdays[index]));
  const window = windowsAt([{ from, to, ...(planDays && { days: planDays }), timeZone }], now);
  if (!window.open)
    return {
      ...wait('OutsideWindow', `The update waits for the time between ${when.from} and ${when.to}.`, window.opensAt),
      wakeAt: window.opensAt,
    };
  return { ...(block ?? { kind: 'act', why }), wakeAt: window.closesAt };
};

/** The owner has not decided, or postponed the decision. */
const undecided = (facts: StepFacts): Step => {
  const { need } = facts.announced;
  if (need === 'no' || need === 'withheld') return { kind: 'none' };
  return need === 'halted' ? (blocked(facts) ?? { kind: 'ask' }) : { kind: 'ask' };
};

const onDecision = (facts: StepFacts, { decision, at, by }: Decision): Step => {
  switch (decision.choice) {
    case 'approve':
      return approved(facts, decision, by.via === 'agent' ? 'deadline' : 'owner');
    case 'reject':
      return wait('Rejected', 'The owner rejected this version.');
    case 'postpone': {
      const until = Date.parse(decision.until);
      if (Number.isNaN(until)) throw new Error(`the end of the postponement is not a time: ${decision.until}`);
      if (facts.now >= until) return undecided(facts);
      // If the clock keeps running, the postponement applies again from here.
      const believedFrom = Date.parse(at) - CLOCK_WENT_BACK_MS;
      if (facts.now < believedFrom) return { ...undecided(facts), wakeAt: Math.min(believedFrom, until) };
      return { ...wait('Postponed', 'The owner is asked again later.', until), wakeAt: until };
    }
    default:
      throw new Error(`the decision is not known: ${JSON.stringify(decision)}`);
  }
};

/** Why a decision no longer applies. Never while offline: the known target may be older than the decision. */
const obsoleteReason = (facts: StepFacts, decision: Decision): string | undefined => {
  const { connected, announced, deadline, now } = facts;
  if (!connected) return undefined;
  if (decision.revision !== announced.revision)
    return `The decision was for revision ${decision.revision}; the current target is ${announced.revision}.`;
  // A decision made by the deadline depends on the deadline.
  if (isOffered(announced) && decision.by.via === 'agent' && !(deadline && now >= actsAt(deadline)))
    return 'The deadline was moved or removed; the owner decides again.';
  return announced.need === 'no' ? `Revision ${decision.revision} no longer needs an update here.` : undefined;
};

/**
 * What to do now for one DaemonSet of this node. Pure. A deadline that has passed replaces the owner's approval and nothing
 * else: halt, connection, images and the device's safety check still apply.
 */
export const nextStep = (facts: StepFacts): Step => {
  const { now, announced, deadline } = facts;
  const decision = facts.decision?.state === 'open' ? facts.decision : undefined;
  if (facts.decision?.state === 'acting')
    return wait('Acting', 'The update was sent; its outcome is being determined.');
  const obsolete = decision && obsoleteReason(facts, decision);
  if (obsolete !== undefined) return { kind: 'supersede', message: obsolete };

  const step = decision ? onDecision(facts, decision) : undecided(facts);
  if (!deadline || !isOffered(announced) || step.kind === 'act') return step;
  const dueAt = actsAt(deadline);
  if (now >= dueAt) {
    const { wakeAt: _window, ...due } = blocked(facts) ?? { kind: 'act', why: 'deadline' };
    return due;
  }
  return { ...step, wakeAt: Math.min(dueAt, step.wakeAt ?? dueAt) };
};

/** The deadline carries out the update before the decision does: at the time of an earlier deadline, the step changes. */
export const isOvertaken = (step: Step, deadline: Deadline | undefined): boolean => {
  if (!deadline || step.kind !== 'wait') return false;
  return step.reason === 'Rejected' || (step.until !== undefined && (step.wakeAt ?? step.until) < step.until);
};

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
  /** The night that its owner can choose. */
  tonightOf(tracked: TrackedUpdate): Update['choices']['tonight'];
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
    tonightOf: (tracked) => tonightOf({ now: env.clock.now(), timeZone, deadline: localDeadlineOf(tracked) }),
    isDue(tracked, terms) {
      const deadline = localDeadlineOf(tracked, terms);
      return deadline !== undefined && env.clock.now() >= actsAt(deadline);
    },
  };
};
