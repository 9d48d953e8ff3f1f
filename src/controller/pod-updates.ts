import { type Ledger, mayHaveStarted, type NodeUpdate, type PodFacts } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import { createAir } from './air.ts';
import { type PodWriteKind, podWriteTexts } from './deed.ts';
import type { PodWrites } from './kind-adapter.ts';
import { updateKnownPod } from './learn-pod.ts';
import type { ControllerMetrics } from './observer.ts';
import { createPacing } from './pacing.ts';
import type { PodVersion, WriteOutcome } from './pod-control.ts';
import type { RolloutEvents } from './rollout-events.ts';

/** Acts of one DaemonSet in the air at once. */
const MOST_IN_AIR = 16;

export interface PodUpdatesOptions {
  env: Env;
  ledger: Ledger;
  acts: PodWrites;
  events: RolloutEvents;
  metrics: ControllerMetrics;
  /** Called when an act ended: time to decide again. */
  ended: () => void;
}

/** Carries out what was decided for single nodes, and tells the ledger what came of it. */
export const createPodUpdates = ({ env, ledger, acts, events, metrics, ended }: PodUpdatesOptions) => {
  const { clock, log } = env;
  const pacing = createPacing();
  /** Pods in whose fate somebody else has a part first, by node: the version that is waited on, and how long. */
  const waits = new Map<string, { version: string; at: number }>();
  const air = createAir({
    clock,
    most: MOST_IN_AIR,
    ended,
    failed(node, error) {
      log.error('an act failed unexpectedly', { node, error });
      const now = clock.now();
      pacing.failed(node, now);
      // Nobody knows what became of it: found out as after a lost answer.
      if (ledger.get(node)?.update?.stage === 'sending') ledger.setStage(node, 'unsure', now);
    },
  });

  /** When the node's pod of this version may be written to; a time that is past for at once. */
  const turnOf = (node: string, version: string, now: number): number => {
    const wait = waits.get(node);
    return Math.max(pacing.until(node, now), wait?.version === version ? wait.at : 0);
  };

  const launch = (node: string, work: (act: NodeUpdate, signal: AbortSignal) => Promise<void>): void => {
    const act = ledger.get(node)?.update;
    const now = clock.now();
    if (act && pacing.until(node, now) <= now) air.launch(node, (signal) => work({ ...act }, signal));
  };

  /** What every write has in common: the pod as it is now, and the pace of the next try. */
  const learn = (node: string, pod: PodVersion, outcome: WriteOutcome): number => {
    const now = clock.now();
    waits.delete(node);
    if (outcome.kind === 'later') waits.set(node, { version: pod.podResourceVersion, at: outcome.at });
    if (outcome.kind === 'unsure' || outcome.kind === 'refused') pacing.failed(node, now);
    else pacing.succeeded(node);
    if (outcome.kind === 'gone') ledger.removePod(pod.podUid, now);
    if (outcome.kind === 'changed') updateKnownPod(ledger, outcome.pod, now);
    if (outcome.kind === 'done' && outcome.pod) updateKnownPod(ledger, outcome.pod, now);
    return now;
  };

  const write = async (
    deed: PodWriteKind,
    node: string,
    pod: PodVersion,
    signal: AbortSignal,
  ): Promise<WriteOutcome> => {
    const carryOut = acts[deed];
    if (!carryOut) throw new Error(`this controller cannot ${deed}`);
    const outcome = await carryOut(node, pod, signal);
    metrics.podWritten?.(outcome.kind === 'done' ? podWriteTexts[deed].result : outcome.kind);
    if (outcome.kind === 'done') events.podWritten(deed, pod.podName, node);
    if (outcome.kind === 'refused' && outcome.reason !== undefined)
      events.podWriteRefused(deed, pod.podName, node, outcome.reason, outcome.message);
    if (outcome.kind === 'unsure')
      log.warn(`the answer to a ${deed} was lost`, { node, pod: pod.podName, error: outcome.message });
    return outcome;
  };

  /** While the answer was on its way the node's slot may have been given to another act: that one is not concerned. */
  const isStillHeld = (node: string, act: NodeUpdate): boolean => {
    const held = ledger.get(node)?.update;
    return (
      held?.podUid === act.podUid && held.podResourceVersion === act.podResourceVersion && held.rollout === act.rollout
    );
  };

  return {
    /** Does what a slot was reserved for to the pod that it was reserved for. */
    carryOut(node: string, deed: Exclude<PodWriteKind, 'retire'>): void {
      const reserved = ledger.get(node)?.update;
      if (!reserved || turnOf(node, reserved.podResourceVersion, clock.now()) > clock.now()) return;
      launch(node, async (act, signal) => {
        ledger.setStage(node, 'sending', clock.now());
        const outcome = await write(deed, node, act, signal);
        const now = learn(node, act, outcome);
        if (!isStillHeld(node, act)) return;
        switch (outcome.kind) {
          case 'done':
          case 'gone':
            ledger.setStage(node, 'done', now);
            break;
          case 'changed':
            // Whatever was sent for the older version of the pod can no longer succeed.
            ledger.setStage(node, outcome.pod.resourceVersion === act.podResourceVersion ? 'unsure' : 'reserved', now);
            break;
          case 'refused':
            // An earlier try may still succeed: then the slot is given back by a fence only.
            if (!mayHaveStarted(act)) ledger.release(node, now);
            else ledger.setStage(node, 'unsure', now);
            ledger.refuse(node, outcome.message, now);
            break;
          case 'unsure':
            ledger.setStage(node, 'unsure', now);
            break;
          case 'later':
            ledger.setStage(node, act.stage, now);
            break;
        }
      });
    },
    /** Takes away the pod that a new one has taken over from: in the slot of the act that made the new one. */
    retire(node: string, { name: podName, uid: podUid, resourceVersion: podResourceVersion }: PodFacts): void {
      if (turnOf(node, podResourceVersion, clock.now()) > clock.now()) return;
      const pod = { podName, podUid, podResourceVersion };
      air.launch(node, async (signal) => void learn(node, pod, await write('retire', node, pod, signal)));
    },
    /** Makes sure that nobody can carry an act out any more, then gives its slot back. */
    fence(node: string): void {
      const reserved = ledger.get(node)?.update;
      if (!reserved || turnOf(node, reserved.podResourceVersion, clock.now()) > clock.now()) return;
      launch(node, async (act, signal) => {
        const outcome = await acts.fence(node, act, signal);
        const now = learn(node, act, outcome);
        metrics.podWritten?.(outcome.kind === 'done' ? 'fenced' : outcome.kind);
        if (outcome.kind === 'refused' && outcome.reason !== undefined)
          events.fenceRefused(act.podName, node, outcome.reason, outcome.message);
        if (!isStillHeld(node, act)) return;
        const moved = outcome.kind === 'changed' && outcome.pod.resourceVersion !== act.podResourceVersion;
        if (outcome.kind === 'gone') ledger.setStage(node, 'done', now);
        else if (outcome.kind === 'done' || moved) ledger.release(node, now);
      });
    },
    /** When the earliest node that is not to be written to yet may be; Infinity when none waits. */
    nextTryAt(): number {
      const now = clock.now();
      let least = Number.POSITIVE_INFINITY;
      for (const { name, update } of ledger.unconfirmed()) {
        const turn = update ? turnOf(name, update.podResourceVersion, now) : 0;
        if (turn > now) least = Math.min(least, turn);
      }
      return least;
    },
    /** When this pod may be retired; a time that is past for at once. */
    retireAt: (node: string, { resourceVersion }: PodFacts): number => turnOf(node, resourceVersion, clock.now()),
    /** Lets what is in the air end. Reservations stay on file, so whoever comes next finds out what became of the rest. */
    stop: (graceMs: number): Promise<void> => air.stop(graceMs),
  };
};
export type PodUpdates = ReturnType<typeof createPodUpdates>;
