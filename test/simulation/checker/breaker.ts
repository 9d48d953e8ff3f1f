import type { Node } from 'kubernetes-types/core/v1.d.ts';
import type { Check, CheckContext } from './check.ts';
import { isEligible } from './cluster-state.ts';
import { nodesOf, termsOf } from './terms.ts';
import { type ExecutedUpdate, isReverted } from './updates.ts';

/** As the defaults of the annotations: fewer than 31 nodes were acted on. */
const THRESHOLD = 3;
const WINDOW_MS = 300_000;
/** What a process was told shorter ago may not be in what it has decided already. */
const SLACK_MS = 1_000;

const GRAIN_MS = 1_000;

const wentAway = ({ status }: Node): number =>
  Date.parse(status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '');

interface Last extends ExecutedUpdate {
  at: number;
  rollout: number;
}

/**
 * S13: no act begins while nodes that the version failed on, and those that went away soon after they got it, make up the
 * threshold. Both by what the sender was told.
 */
export const createBreakerCheck = ({ report, actual, now, viewOf, clockOf }: CheckContext) => {
  const { check, violation } = report;
  /** The last act on each node. */
  const acts = new Map<string, Last>();

  /** Nodes that count against a version, as a process was told of them some time ago. */
  const against = (
    process: string,
    rollout: number,
    hash: string | undefined,
  ): { failed: string[]; away: string[] } => {
    const view = viewOf(process);
    const at = clockOf(process);
    const failed: string[] = [];
    const away: string[] = [];
    for (const [name, { ready, since, node }] of view.nodes) {
      const isConcerned = (): boolean => isEligible(node, view.daemonSet);
      const act = acts.get(name);
      if (ready) {
        const bad = view
          .podsOn(name)
          .some(
            (pod) =>
              !pod.terminating &&
              pod.hash === hash &&
              pod.failingSince !== undefined &&
              at - pod.failingSince > SLACK_MS,
          );
        if (bad && isConcerned()) failed.push(name);
      } else if (act && act.rollout === rollout) {
        // What was so when the process first heard of the node says since when, in whole seconds.
        const wentAt = since === undefined ? wentAway(node) + GRAIN_MS : since - (at - now());
        const isNews = since !== undefined && at - since <= SLACK_MS;
        const isSoon = !isNews && wentAt >= act.at && wentAt - act.at <= WINDOW_MS;
        // Where the act was taken back, it never got the version.
        if (isSoon && isConcerned() && !isReverted(actual, name, act)) away.push(name);
      }
    }
    return { failed, away };
  };

  return {
    against,
    onUpdateSent({ call, what, rollout }) {
      const view = viewOf(call.process);
      const { daemonSet } = view;
      if (!daemonSet || daemonSet.metadata?.annotations?.['edgeset.io/resume'] !== undefined) return;
      // Which revision it takes for the target is known only once it knows what is asked for.
      const hash =
        daemonSet.metadata?.generation === actual.daemonSet?.metadata?.generation ? actual.target : undefined;
      const { failed, away } = against(call.process, rollout, hash);
      check('S13');
      if (failed.length + away.length >= THRESHOLD)
        violation('S13', `${what}, while it failed on ${[...failed, ...away].join(', ')}`);
      const budget = nodesOf(termsOf(daemonSet).limit, view.nodes.size);
      if (budget > 0 && failed.length >= budget)
        violation('S13', `${what}, while ${failed.join(', ')} hold every slot`);
    },
    onUpdateExecuted({ node, kind, pod: { uid, hash }, rollout }) {
      acts.set(node, { kind, uid, hash, at: now(), rollout });
    },
  } satisfies Check & { against: unknown };
};
