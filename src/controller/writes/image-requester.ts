import { imageReadyPatch, imageReadyRemoval, type Ledger, livePod, type PodFacts } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import { IMAGE_READY } from '../../words/index.ts';
import type { RolloutEvents } from '../events/rollout-events.ts';
import type { Enqueue } from '../kind-adapter.ts';
import type { PodControl, WriteOutcome } from '../pod-writes.ts';
import { createConditionWriter } from './condition-writer.ts';

/** Patches of one DaemonSet in flight at the same time: fewer than updates, which take precedence. */
const MAX_IN_FLIGHT = 8;

export interface ImageRequesterOptions {
  env: Env;
  ledger: Ledger;
  podControl: Pick<PodControl, 'patch'>;
  events: Pick<RolloutEvents, 'warnOnce'>;
  /** Called when a patch has ended: time to reconcile again. */
  onWriteDone: Enqueue;
}

/**
 * Requests the images of the target through a condition of the pods, which agents and pull pods answer. All methods
 * return when to try again, epoch ms; Infinity if an event comes first.
 */
export const createImageRequester = ({ env, ledger, podControl, events, onWriteDone }: ImageRequesterOptions) => {
  const { clock } = env;
  const writer = createConditionWriter({ env, condition: IMAGE_READY, limit: MAX_IN_FLIGHT, onWriteDone });

  const start = (pod: PodFacts, patch: object, begin?: () => void, then?: (outcome: WriteOutcome) => void): number => {
    const { uid: podUid, name: podName, node, resourceVersion } = pod;
    // If the pod asks for something else by now, or was answered, the write must not overwrite that.
    const body = { ...patch, metadata: { uid: podUid, resourceVersion } };
    return writer.start(pod, {
      write(signal) {
        begin?.();
        return podControl.patch({ podName, podUid }, body, { type: 'strategic', subresource: 'status' }, signal);
      },
      refused: (reason, message) =>
        events.warnOnce(
          `images ${reason}`,
          'FailedImageRequest',
          'Pull',
          `Failed to write condition ${IMAGE_READY} of pod ${podName} on ${node}, and possibly of others; retrying: ${message}`,
        ),
      ended(outcome) {
        then?.(outcome);
        return outcome.kind === 'changed' ? 'unchanged' : undefined;
      },
    });
  };

  const podOn = (node: string): PodFacts | undefined => {
    const record = ledger.get(node);
    return record && livePod(record)?.facts;
  };

  return {
    /** Requests the images of the target for the node's pod. */
    request(node: string): number {
      const pod = podOn(node);
      const revision = ledger.state.target?.hash;
      if (!pod || revision === undefined) return Number.POSITIVE_INFINITY;
      const now = clock.now();
      // A request for another revision than before restarts the condition's time, whatever its status was.
      const { images } = pod;
      // Images that were there are requested again only if the kubelet has deleted them.
      const again = images?.revision === revision && images.state === 'present';
      const request = {
        reason: 'PullingImage' as const,
        revision,
        ...(again && { deletions: (images.deletions ?? 0) + 1 }),
      };
      const patch = imageReadyPatch({ uid: pod.uid, status: undefined }, request, now);
      return start(
        pod,
        patch,
        () => ledger.noteImageRequest(node, revision, now),
        ({ kind }) => {
          // The watch reports a write whose response was lost; until then its node counts as one that pulls.
          if (kind !== 'done' && kind !== 'unsure') ledger.noteImageRequest(node, undefined, clock.now());
        },
      );
    },
    /** Withdraws the request of the node's pod. */
    withdraw(node: string): number {
      const pod = podOn(node);
      if (!pod) return Number.POSITIVE_INFINITY;
      return start(pod, imageReadyRemoval({ uid: pod.uid, resourceVersion: pod.resourceVersion }));
    },
    drain: writer.drain,
  };
};
