import type { Act, Ledger } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import { createAir } from './air.ts';
import type { Acts } from './means.ts';
import type { ControllerObserver } from './observer.ts';
import { createPacing } from './pacing.ts';
import type { Outcome } from './pod-acts.ts';
import type { Teller } from './tell.ts';

/** Acts of one DaemonSet in the air at once. */
const MOST_IN_AIR = 16;

export interface ActorOptions {
  env: Env;
  ledger: Ledger;
  acts: Acts;
  teller: Teller;
  observe: ControllerObserver;
  /** Called when an act ended: time to decide again. */
  ended: () => void;
}

/** Carries out what was decided for single nodes, and tells the ledger what came of it. */
export const createActor = ({ env, ledger, acts, teller, observe, ended }: ActorOptions) => {
  const { clock, log } = env;
  const air = createAir({
    clock,
    most: MOST_IN_AIR,
    ended,
    failed: (node, error) => log.error('an act failed unexpectedly', { node, error }),
  });
  const pacing = createPacing();
  /** Acts in which somebody else has a part first, by node: the version of the pod that they wait on, and how long. */
  const waits = new Map<string, { version: string; at: number }>();

  const launch = (node: string, work: (act: Act, signal: AbortSignal) => Promise<void>): void => {
    const act = ledger.get(node)?.act;
    const now = clock.now();
    if (!act || pacing.until(node, now) > now) return;
    air.launch(node, (signal) => {
      waits.delete(node);
      return work({ ...act }, signal);
    });
  };

  /** When an act may be carried out that waits for somebody else; a time that is past for at once. */
  const waitsUntil = (node: string, { podResourceVersion }: Act): number => {
    const wait = waits.get(node);
    return wait?.version === podResourceVersion ? wait.at : 0;
  };

  /** What both kinds of write have in common: the pod as it is now, and the pace of the next try. */
  const learn = (node: string, act: Act, outcome: Outcome): number => {
    const now = clock.now();
    if (outcome.kind === 'unsure' || outcome.kind === 'refused') pacing.failed(node, now);
    else pacing.succeeded(node);
    if (outcome.kind === 'gone') ledger.removePod(act.podUid, now);
    if (outcome.kind === 'changed') ledger.setPod(outcome.pod, now);
    if (outcome.kind === 'done' && outcome.pod) ledger.setPod(outcome.pod, now);
    return now;
  };

  /** While the answer was on its way the node's slot may have been given to another act: that one is not concerned. */
  const isStillHeld = (node: string, act: Act): boolean => {
    const held = ledger.get(node)?.act;
    return (
      held?.podUid === act.podUid && held.podResourceVersion === act.podResourceVersion && held.rollout === act.rollout
    );
  };

  return {
    /** Deletes the pod that a slot was reserved for. */
    carryOut(node: string): void {
      const held = ledger.get(node)?.act;
      if (held && waitsUntil(node, held) > clock.now()) return;
      launch(node, async (act, signal) => {
        ledger.setStage(node, 'sending', clock.now());
        const outcome = await acts.delete(node, act, signal);
        const now = learn(node, act, outcome);
        observe.acted?.(outcome.kind === 'done' ? 'deleted' : outcome.kind);
        if (outcome.kind === 'done') teller.deleted(act.podName, node);
        if (outcome.kind === 'refused' && outcome.reason !== undefined)
          teller.deleteFailed(act.podName, node, outcome.reason, outcome.message);
        if (outcome.kind === 'unsure')
          log.warn('the answer to a delete was lost', { node, pod: act.podName, error: outcome.message });
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
            if (act.stage === 'reserved') ledger.release(node, now);
            else ledger.setStage(node, 'unsure', now);
            ledger.refuse(node, outcome.message, now);
            break;
          case 'unsure':
            ledger.setStage(node, 'unsure', now);
            break;
          case 'later':
            waits.set(node, { version: act.podResourceVersion, at: outcome.at });
            ledger.setStage(node, act.stage, now);
            break;
        }
      });
    },
    /** Makes sure that nobody can carry an act out any more, then gives its slot back. */
    fence(node: string): void {
      launch(node, async (act, signal) => {
        const outcome = await acts.fence(node, act, signal);
        const now = learn(node, act, outcome);
        observe.acted?.(outcome.kind === 'done' ? 'fenced' : outcome.kind);
        if (outcome.kind === 'refused' && outcome.reason !== undefined)
          teller.fenceFailed(act.podName, node, outcome.reason, outcome.message);
        if (!isStillHeld(node, act)) return;
        const moved = outcome.kind === 'changed' && outcome.pod.resourceVersion !== act.podResourceVersion;
        if (outcome.kind === 'gone') ledger.setStage(node, 'done', now);
        else if (outcome.kind === 'done' || moved) ledger.release(node, now);
      });
    },
    /** When the earliest paced node may be tried again; Infinity when none waits. */
    nextTryAt(): number {
      const now = clock.now();
      let least = Number.POSITIVE_INFINITY;
      for (const record of ledger.openActs()) {
        const until = Math.max(pacing.until(record.name, now), record.act ? waitsUntil(record.name, record.act) : 0);
        if (until > now) least = Math.min(least, until);
      }
      return least;
    },
    /** Lets what is in the air end. Reservations stay on file, so whoever comes next finds out what became of the rest. */
    stop: (graceMs: number): Promise<void> => air.stop(graceMs),
  };
};
export type Actor = ReturnType<typeof createActor>;
