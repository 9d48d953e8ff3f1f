import type { PodVersion, ReconcilerContext, WriteOutcome } from '../../../controller/index.ts';
import { serverText } from '../../../kube/index.ts';
import { backoffMs } from '../../../runtime/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { PodCreator } from '../placement/create-pods.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';
import type { CachedPod } from './cached-pod.ts';

export interface ResizeReviewOptions
  extends Pick<ReconcilerContext<AdvancedView, CachedPod>, 'env' | 'view' | 'podControl'> {
  creator: Pick<PodCreator, 'tryPod'>;
}

/** How long the rollout is held for refused pods before one is tried again. */
const BACKOFF = { baseMs: 1_000, maxMs: 300_000 };

type Refused = Extract<WriteOutcome, { kind: 'refused' }> & { reason: string };

/** Would the same request be refused again? Anything else says nothing about the pod. */
const isFinal = (outcome: WriteOutcome): outcome is Refused =>
  outcome.kind === 'refused' && outcome.reason !== undefined;

/**
 * The code that says only that the pod could not be asked about: an admission webhook that does not support dry runs answers
 * so. The write itself then tells.
 */
const CANNOT_ASK = 'BadRequest';

/** A dry run without a response has changed nothing. */
const asDryRun = (outcome: WriteOutcome): WriteOutcome =>
  outcome.kind === 'unsure' ? { ...outcome, kind: 'refused', reason: undefined } : outcome;

export interface ResizeReview {
  /** Undefined: the API server would resize the pod, or can't be asked; else the outcome to return instead. */
  ask(
    revision: CurrentRevision,
    node: string,
    pod: PodVersion,
    body: object,
    signal: AbortSignal,
  ): Promise<WriteOutcome | undefined>;
  /** What to do after this outcome of a resize: nothing else unless it was refused for good. */
  instead(
    revision: CurrentRevision,
    node: string,
    pod: PodVersion,
    outcome: WriteOutcome,
    signal: AbortSignal,
  ): Promise<WriteOutcome>;
  /** Why the API server refuses new pods, if a dry run says so. */
  refusal: () => string | undefined;
  /** The same, once it concerns more than a node, and until when to wait before another one is tried, epoch ms. */
  hold(): { message: string; until: number } | undefined;
}

/**
 * Asks the API server, by dry runs, whether it would resize a pod before the pod leaves service, and whether it would accept
 * a new pod in its place if not. Admission policies, webhooks, LimitRanges and quotas may refuse either.
 */
export const createResizeReview = ({ env, view, podControl, creator }: ResizeReviewOptions): ResizeReview => {
  const { clock } = env;
  /** New pods of this generation that were refused: on which nodes, and until when no other is tried. */
  let refusal: { generation: number; nodes: Set<string>; tries: number; until: number; message: string } | undefined;

  const current = () => (refusal?.generation === view().generation ? refusal : undefined);

  const note = (node: string, message: string): void => {
    const { generation } = view();
    const { nodes = new Set<string>(), tries = 0 } = current() ?? {};
    const until = clock.now() + backoffMs(tries + 1, BACKOFF);
    refusal = { generation, nodes: nodes.add(node), tries: tries + 1, until, message };
  };

  const review: ResizeReview = {
    async ask(revision, node, pod, body, signal) {
      const options = { type: 'strategic', subresource: 'resize', dryRun: true } as const;
      const outcome = asDryRun(await podControl.patch(pod, body, options, signal));
      if (outcome.kind === 'done') refusal = undefined;
      if (outcome.kind === 'done' || (isFinal(outcome) && outcome.reason === CANNOT_ASK)) return undefined;
      return review.instead(revision, node, pod, outcome, signal);
    },
    async instead(revision, node, pod, outcome, signal) {
      if (!isFinal(outcome)) return outcome;
      const resize = serverText(outcome.message);
      const created = asDryRun(await creator.tryPod(view(), revision, { node, replaces: pod.podUid }, signal));
      if (created.kind === 'done' || (isFinal(created) && created.reason === CANNOT_ASK)) {
        refusal = undefined;
        return { kind: 'recreate', reason: outcome.reason, message: `${resize} It is recreated instead.` };
      }
      if (!isFinal(created)) return created;
      const message = serverText(created.message);
      note(node, `${message} (nor does it let running pods be resized: ${resize})`);
      return { ...outcome, message: `${resize} A new pod is refused as well: ${message}` };
    },
    refusal: () => current()?.message,
    hold() {
      const known = current();
      return known && known.nodes.size > 1 && known.until > clock.now() ? known : undefined;
    },
  };
  return review;
};
