import type { PodWrites, ReconcilerContext, WritePod } from '../../../controller/index.ts';
import { scaledValue } from '../../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';

/** When to retry a write that exceeded the burst. The end of another write triggers a reconcile sooner. */
const RETRY_MS = 250;

/** The value of `burstReplicas` for this number of desired pods: at least 1. */
export const burstOf = ({ burst }: Pick<AdvancedView, 'burst'>, desired: number): number =>
  Math.max(1, scaledValue(burst, desired, 'up'));

type BurstContext = Pick<ReconcilerContext<AdvancedView, CachedPod>, 'env' | 'view' | 'ledger'>;

/** Limits the writes that are in flight at the same time to `burstReplicas`; fences are exempt. */
export const withinBurst = ({ env, view, ledger }: BurstContext, writes: PodWrites): PodWrites => {
  const { clock } = env;
  let inFlight = 0;
  const limited =
    (write: WritePod): WritePod =>
    async (node, pod, signal) => {
      if (inFlight >= burstOf(view(), ledger.tally.eligible)) return { kind: 'later', at: clock.now() + RETRY_MS };
      inFlight += 1;
      try {
        return await write(node, pod, signal);
      } finally {
        inFlight -= 1;
      }
    };
  return {
    ...writes,
    delete: limited(writes.delete),
    ...(writes['update-in-place'] && { 'update-in-place': limited(writes['update-in-place']) }),
    ...(writes.surge && { surge: limited(writes.surge) }),
    ...(writes['delete-old'] && { 'delete-old': limited(writes['delete-old']) }),
  };
};
