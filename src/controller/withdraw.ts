import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { KubeClient, ListResult } from '../kube/index.ts';
import { approvedRevision, controllerOf, formatSelector, fromLabelSelector, needUpgradeOf } from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { DaemonSetObject } from './kind.ts';
import { createPodActs } from './pod-acts.ts';
import { pods } from './resources.ts';

const PAGE = 500;
const MOST_IN_AIR = 8;

/** Some of the pods of a DaemonSet that opted out still carry condition PodNeedUpgrade. */
export class WithdrawError extends Error {
  readonly code = 'Withdraw';
  constructor(left: number, why: string) {
    super(`condition PodNeedUpgrade could not be removed from ${left} pods: ${why}`);
    this.name = 'WithdrawError';
  }
}

/**
 * Removes condition PodNeedUpgrade from a DaemonSet's pods, which are listed for it once and not kept. One that fails
 * does not stop the others; rejects with `WithdrawError` when some are left.
 */
export const withdraw = async (
  client: KubeClient,
  { metadata, spec }: DaemonSetObject,
  identity: string,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
): Promise<void> => {
  const { namespace = '', uid } = metadata ?? {};
  const selector = fromLabelSelector(spec?.selector ?? {});
  if (!selector.ok) return;
  const acts = createPodActs(client, namespace, identity, clock);
  let left = 0;
  let why = '';

  const release = async (pod: Pod): Promise<void> => {
    const announced = needUpgradeOf(pod);
    if (!announced || pod.metadata?.deletionTimestamp || controllerOf(pod)?.uid !== uid) return;
    const approved = approvedRevision(pod);
    const { uid: podUid = '', name = '' } = pod.metadata ?? {};
    const told = { uid: podUid, name, announced, ...(approved !== undefined && { approved }) };
    const outcome = await acts.announce(told, 'none', signal);
    if (outcome.kind === 'done' || outcome.kind === 'gone') return;
    left += 1;
    why = 'message' in outcome ? outcome.message : 'the pod has changed';
  };

  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: ListResult<Pod> = await client.list(pods, {
      namespace,
      labelSelector: formatSelector(selector.selector),
      limit: PAGE,
      signal,
      ...(next && { continue: next }),
    });
    const rest = page.items.values();
    const work = async (): Promise<void> => {
      for (const pod of rest) await release(pod);
    };
    await Promise.all(Array.from({ length: MOST_IN_AIR }, work));
    next = page.continue;
  }
  signal.throwIfAborted();
  if (left > 0) throw new WithdrawError(left, why);
};
