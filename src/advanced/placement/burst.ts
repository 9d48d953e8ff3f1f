import type { PodWrites, ReconcilerContext, WritePod } from '../../controller/index.ts';
import { scaledValue } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';

/** How soon an act that found no room is tried again; the end of another one asks for a pass sooner. */
const AGAIN_MS = 250;

/** `burstReplicas` of a DaemonSet that is for so many nodes: at least 1. */
export const burstOf = ({ burst }: Pick<AdvancedView, 'burst'>, desired: number): number =>
  Math.max(1, scaledValue(burst, desired, 'up'));

type Needs = Pick<ReconcilerContext<AdvancedView, CachedPod>, 'env' | 'view' | 'ledger'>;

/** The same acts, of which no more than `burstReplicas` are on their way to the API server at a time. */
export const withinBurst = ({ env, view, ledger }: Needs, acts: PodWrites): PodWrites => {
  const { clock } = env;
  let onTheirWay = 0;
  const bounded =
    (carryOut: WritePod): WritePod =>
    async (node, pod, signal) => {
      if (onTheirWay >= burstOf(view(), ledger.tally.eligible)) return { kind: 'later', at: clock.now() + AGAIN_MS };
      onTheirWay += 1;
      try {
        return await carryOut(node, pod, signal);
      } finally {
        onTheirWay -= 1;
      }
    };
  return {
    ...acts,
    delete: bounded(acts.delete),
    ...(acts.change && { change: bounded(acts.change) }),
    ...(acts.surge && { surge: bounded(acts.surge) }),
    ...(acts.retire && { retire: bounded(acts.retire) }),
  };
};
