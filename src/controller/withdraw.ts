import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { KubeClient, ListResult } from '../kube/index.ts';
import {
  approvedRevision,
  controllerOf,
  formatSelector,
  fromLabelSelector,
  imageFactsOf,
  imageReadyRemoval,
  needUpgradeOf,
} from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { DaemonSetObject } from './kind.ts';
import { createPodControl, type WriteOutcome } from './pod-control.ts';
import { pods } from './resources.ts';

const PAGE = 500;
const MOST_IN_AIR = 8;

/** Some of the pods of a DaemonSet that opted out still carry condition PodNeedUpgrade, or ask for images. */
export class ClearConditionsError extends Error {
  readonly code = 'Withdraw';
  constructor(left: number, why: string) {
    super(`conditions could not be removed from pods, ${left} times: ${why}`);
    this.name = 'WithdrawError';
  }
}

/**
 * Removes condition PodNeedUpgrade, and what asks for images, from a DaemonSet's pods, which are listed for it once and not kept. One that fails
 * does not stop the others; rejects with `WithdrawError` when some are left.
 */
export const clearPodConditions = async (
  client: KubeClient,
  { metadata, spec }: DaemonSetObject,
  identity: string,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
): Promise<void> => {
  const { namespace = '', uid } = metadata ?? {};
  const selector = fromLabelSelector(spec?.selector ?? {});
  if (!selector.ok) return;
  const acts = createPodControl(client, namespace, identity, clock);
  let left = 0;
  let why = '';

  const note = (outcome: WriteOutcome): void => {
    if (outcome.kind === 'done' || outcome.kind === 'gone') return;
    left += 1;
    why = 'message' in outcome ? outcome.message : 'the pod has changed';
  };

  /** Images that are still to be pulled are nobody's concern any more. */
  const unask = async (pod: Pod): Promise<void> => {
    const images = imageFactsOf(pod);
    if (!images || images.state === 'present') return;
    const { uid: podUid = '', name: podName = '', resourceVersion = '' } = pod.metadata ?? {};
    const body = imageReadyRemoval({ uid: podUid, resourceVersion });
    const how = { type: 'strategic', subresource: 'status' } as const;
    note(await acts.patch({ podName, podUid }, body, how, signal));
  };

  const release = async (pod: Pod): Promise<void> => {
    if (pod.metadata?.deletionTimestamp || controllerOf(pod)?.uid !== uid) return;
    await unask(pod);
    const announced = needUpgradeOf(pod);
    if (!announced) return;
    const approved = approvedRevision(pod);
    const { uid: podUid = '', name = '' } = pod.metadata ?? {};
    const told = { uid: podUid, name, announced, ...(approved !== undefined && { approved }) };
    note(await acts.announce(told, 'none', signal));
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
  if (left > 0) throw new ClearConditionsError(left, why);
};
