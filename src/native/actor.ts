import type { Act, Ledger } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import type { ControllerObserver } from './observer.ts';
import { createPacing } from './pacing.ts';
import type { Outcome, PodActs } from './pod-acts.ts';
import type { Teller } from './tell.ts';

/** Acts of one DaemonSet in the air at once: a hold that appears stops all others before they are sent. */
const MOST_IN_AIR = 16;

export interface ActorOptions {
  env: Env;
  ledger: Ledger;
  acts: PodActs;
  teller: Teller;
  observe: ControllerObserver;
  /** Called when an act ended: time to decide again. */
  ended: () => void;
}

/** Carries out what was decided for single nodes, and tells the ledger what came of it. */
export const createActor = ({ env, ledger, acts, teller, observe, ended }: ActorOptions) => {
  const inAir = new Map<string, Promise<void>>();
  const pacing = createPacing();
  const { clock, log } = env;

  const launch = (node: string, work: (act: Act, now: number) => Promise<void>): void => {
    const act = ledger.get(node)?.act;
    if (!act || inAir.has(node) || inAir.size >= MOST_IN_AIR || pacing.until(node) > clock.now()) return;
    const running = work({ ...act }, clock.now())
      .catch((error: unknown) => log.error('an act failed unexpectedly', { node, error }))
      .finally(() => {
        inAir.delete(node);
        ended();
      });
    inAir.set(node, running);
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

  return {
    /** Deletes the pod that a slot was reserved for. */
    carryOut(node: string): void {
      launch(node, async (act) => {
        const inherited = act.stage !== 'reserved';
        ledger.setStage(node, 'sending', clock.now());
        const outcome = await acts.delete(act);
        const now = learn(node, act, outcome);
        observe.acted?.(outcome.kind === 'done' ? 'deleted' : outcome.kind);
        switch (outcome.kind) {
          case 'done':
            ledger.setStage(node, 'done', now);
            teller.deleted(act.podName, node);
            break;
          case 'gone':
            ledger.setStage(node, 'done', now);
            break;
          case 'changed':
            // Whatever was sent for the older version of the pod can no longer succeed.
            ledger.setStage(node, outcome.pod.resourceVersion === act.podResourceVersion ? 'unsure' : 'reserved', now);
            break;
          case 'refused':
            teller.deleteFailed(act.podName, node, outcome.message);
            // An earlier try may still succeed: then the slot is given back by a fence only.
            if (inherited) ledger.setStage(node, 'unsure', now);
            else ledger.release(node, now);
            ledger.refuse(node, outcome.message, now);
            break;
          case 'unsure':
            log.warn('the answer to a delete was lost', { node, pod: act.podName, error: outcome.message });
            ledger.setStage(node, 'unsure', now);
            break;
        }
      });
    },
    /** Makes sure that nobody can carry an act out any more, then gives its slot back. */
    fence(node: string): void {
      launch(node, async (act) => {
        const outcome = await acts.fence(act);
        const now = learn(node, act, outcome);
        observe.acted?.(outcome.kind === 'done' ? 'fenced' : outcome.kind);
        if (outcome.kind === 'done') ledger.release(node, now);
        else if (outcome.kind === 'gone') ledger.setStage(node, 'done', now);
      });
    },
    /** When the earliest paced node may be tried again; Infinity when none waits. */
    nextTryAt(): number {
      let least = Number.POSITIVE_INFINITY;
      for (const record of ledger.openActs()) {
        const until = pacing.until(record.name);
        if (until > clock.now()) least = Math.min(least, until);
      }
      return least;
    },
    /** Resolves when nothing is in the air. */
    async settled(): Promise<void> {
      while (inAir.size > 0) await Promise.all(inAir.values());
    },
  };
};
export type Actor = ReturnType<typeof createActor>;
