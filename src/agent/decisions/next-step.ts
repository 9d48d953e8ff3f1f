import type { Choice, Decision, WithheldReason } from '../types.ts';
import { actsAt } from './deadline.ts';
import type { Step, StepFacts, WaitReason } from './types.ts';
import { windowAt } from './window.ts';

// A device without a battery for its clock starts years back. One that stands before the decision by more than clocks
// are ever off shows no time at which a postponement would end: the owner is asked, which is no consent.
const CLOCK_WENT_BACK_MS = 15 * 60_000;

const wait = (reason: WaitReason, message: string, until?: number): Step => ({ kind: 'wait', reason, message, until });

const withheld: Readonly<Record<WithheldReason, string>> = {
  Paused: 'The update is paused on all devices; what was decided is kept, and holds again when the pause ends.',
  Partition: "This device's turn has not come yet; what was decided is kept until then.",
  NodeSelector: 'The update is for other devices at present; what was decided is kept, should that change.',
  NodeNotEligible: 'The app could not start on this device again at present; what was decided is kept until it can.',
  NotOffered: 'The update is not offered to this device at present; what was decided is kept until it is again.',
};

/** What keeps back an act that there is consent for, at any time of the day. */
const blocked = ({ connected, announced, imageBlocks }: StepFacts): Step | undefined => {
  if (announced.need === 'halted')
    return wait('Halted', 'This version was stopped for the whole fleet, as it fails on other devices.');
  if (announced.need === 'withheld') return wait(announced.reason, withheld[announced.reason]);
  if (!connected) return wait('Disconnected', 'The device is offline; the update goes on once it is connected.');
  if (imageBlocks !== undefined) return wait('ImageNotReady', imageBlocks);
  return undefined;
};

const approved = (facts: StepFacts, choice: Choice & { choice: 'approve' }, why: 'owner' | 'deadline'): Step => {
  const { now, timeZone, safeConfigured, announced } = facts;
  const { when } = choice;
  const held = blocked(facts);
  if (held && (announced.need === 'halted' || announced.need === 'withheld')) return held;
  if (when.type === 'safe' && !safeConfigured)
    return wait('NoSafeCheck', 'The device has no check any more that could say when it is safe: decide again.');
  if (when.type !== 'window') return held ?? { kind: 'act', why };
  const window = windowAt(when, timeZone, now);
  if (!window.open)
    return {
      ...wait('OutsideWindow', `The update waits for the time from ${when.from} to ${when.to}.`, window.opensAt),
      wakeAt: window.opensAt,
    };
  return { ...(held ?? { kind: 'act', why }), wakeAt: window.closesAt };
};

/** The owner has not decided, or asked to be asked again. */
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
      return wait('Rejected', 'The owner does not want this version.');
    case 'postpone': {
      const until = Date.parse(decision.until);
      if (facts.now >= until) return undecided(facts);
      // Where the clock is let run on, the postponement holds again from here.
      const believedFrom = Date.parse(at) - CLOCK_WENT_BACK_MS;
      if (facts.now < believedFrom) return { ...undecided(facts), wakeAt: Math.min(believedFrom, until) };
      return { ...wait('Postponed', 'The owner is asked again later.', until), wakeAt: until };
    }
  }
};

/** Why a decision has nothing left to decide. Never while offline: what is known of the target may be older than it. */
const outlived = (facts: StepFacts, decision: Decision): string | undefined => {
  const { connected, announced, deadline, now } = facts;
  if (!connected) return undefined;
  if (decision.revision !== announced.revision)
    return `It was for revision ${decision.revision}; the version offered now is ${announced.revision}.`;
  const isOffered = announced.need === 'yes' || announced.need === 'halted';
  // What a deadline has decided, no owner has: it stands and falls with the deadline.
  if (isOffered && decision.by.via === 'agent' && !(deadline && now >= actsAt(deadline)))
    return 'The deadline was moved or taken back; the owner decides again.';
  return announced.need === 'no' ? `Revision ${decision.revision} needs no update here any more.` : undefined;
};

/**
 * What is to be done now for one DaemonSet of this node. Pure. A deadline that has passed takes the place of the owner's
 * consent, and of nothing else: halt, connection, images and the device's own word still hold.
 */
export const nextStep = (facts: StepFacts): Step => {
  const { now, announced, deadline } = facts;
  const decision = facts.decision?.state === 'open' ? facts.decision : undefined;
  if (facts.decision?.state === 'acting')
    return wait('Acting', 'The update was sent, and its outcome is being looked at.');
  const past = decision && outlived(facts, decision);
  if (past !== undefined) return { kind: 'supersede', message: past };

  const step = decision ? onDecision(facts, decision) : undecided(facts);
  const isOffered = announced.need === 'yes' || announced.need === 'halted';
  if (!deadline || !isOffered || step.kind === 'act') return step;
  const due = actsAt(deadline);
  if (now >= due) {
    const { wakeAt: _window, ...held } = blocked(facts) ?? { kind: 'act', why: 'deadline' };
    return held;
  }
  return { ...step, wakeAt: Math.min(due, step.wakeAt ?? due) };
};
