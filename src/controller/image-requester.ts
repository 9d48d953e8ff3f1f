import {
  IMAGE_READY,
  imageReadyPatch,
  imageReadyRemoval,
  type Ledger,
  livePod,
  type PodFacts,
} from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import { createAir } from './air.ts';
import { updateKnownPod } from './learn-pod.ts';
import { createPacing } from './pacing.ts';
import type { PodControl, WriteOutcome } from './pod-control.ts';
import type { RolloutEvents } from './rollout-events.ts';

/** Patches of one DaemonSet in the air at once: what waits for images need not come before what acts. */
const MOST_IN_AIR = 8;

export interface ImageRequesterOptions {
  env: Env;
  ledger: Ledger;
  acts: Pick<PodControl, 'patch'>;
  events: Pick<RolloutEvents, 'once'>;
  /** Called when a patch ended: time to decide again. */
  ended: () => void;
}

/** Has pods ask for the images of the target, and for nothing any more, by the condition that agents and pull pods answer. */
export const createImageRequester = ({ env, ledger, acts, events, ended }: ImageRequesterOptions) => {
  const { clock, log } = env;
  /** By the pod's UID, as all that is kept here. */
  const pacing = createPacing({ firstMs: 1_000, longestMs: 60_000 });
  const air = createAir({
    clock,
    most: MOST_IN_AIR,
    ended,
    failed(uid, error) {
      log.error('a request for images failed unexpectedly', { pod: uid, error });
      pacing.failed(uid, clock.now());
    },
  });

  const write = async (pod: PodFacts, patch: object, signal: AbortSignal): Promise<WriteOutcome['kind']> => {
    const { uid, name, node, resourceVersion } = pod;
    // Had it been asked for something else, or been answered, since: that would be overwritten.
    const body = { ...patch, metadata: { uid, resourceVersion } };
    const how = { type: 'strategic', subresource: 'status' } as const;
    const outcome = await acts.patch({ podName: name, podUid: uid }, body, how, signal);
    const now = clock.now();
    if (outcome.kind === 'done' || outcome.kind === 'gone') pacing.succeeded(uid);
    else if (outcome.kind !== 'changed') pacing.failed(uid, now);
    if (outcome.kind === 'gone') ledger.removePod(uid, now);
    else if ('pod' in outcome && outcome.pod) updateKnownPod(ledger, outcome.pod, now);
    if ((outcome.kind === 'unsure' || outcome.kind === 'refused') && !signal.aborted) {
      log.warn(`condition ${IMAGE_READY} could not be written`, { node, pod: name, error: outcome.message });
      if (outcome.kind === 'refused' && outcome.reason !== undefined)
        events.once(
          `images ${outcome.reason}`,
          'FailedImageRequest',
          'Pull',
          `Could not write condition ${IMAGE_READY} of pod ${name} on ${node}, and maybe of others; it is tried again: ${outcome.message}`,
        );
    }
    return outcome.kind;
  };

  const podToWrite = (node: string): PodFacts | undefined => {
    const record = ledger.get(node);
    const facts = record && livePod(record)?.facts;
    if (!facts || air.isFull() || air.has(facts.uid) || pacing.until(facts.uid, clock.now()) > clock.now())
      return undefined;
    return facts;
  };

  return {
    request(node: string): void {
      const pod = podToWrite(node);
      const revision = ledger.state.target?.hash;
      if (!pod || revision === undefined) return;
      const now = clock.now();
      // Another revision is asked for than before: the time of that is the condition's, whatever its status was.
      const patch = imageReadyPatch({ uid: pod.uid, status: undefined }, { reason: 'PullingImage', revision }, now);
      ledger.noteImageRequest(node, revision, now);
      air.launch(pod.uid, async (signal) => {
        const outcome = await write(pod, patch, signal);
        // Of one that may have been written the watch will tell; until then its node counts as one that pulls.
        if (outcome !== 'done' && outcome !== 'unsure') ledger.noteImageRequest(node, undefined, clock.now());
      });
    },
    withdraw(node: string): void {
      const pod = podToWrite(node);
      if (!pod) return;
      const { uid, resourceVersion } = pod;
      const patch = imageReadyRemoval({ uid, resourceVersion });
      air.launch(uid, async (signal) => void (await write(pod, patch, signal)));
    },
    /** When the node's pod, which was refused, may be written to again; Infinity when nothing is waited for. */
    nextTryAt(node: string): number {
      const record = ledger.get(node);
      const now = clock.now();
      const until = pacing.until((record && livePod(record)?.facts.uid) ?? '', now);
      return until > now ? until : Number.POSITIVE_INFINITY;
    },
    /** Begins nothing further, and resolves when nothing is in the air: after `graceMs` no answer is waited for. */
    stop: (graceMs: number): Promise<void> => air.stop(graceMs),
  };
};
export type ImageRequester = ReturnType<typeof createImageRequester>;
