import {
  decidedOnAgain,
  type PodVersion,
  type PodWrites,
  type ReconcilerContext,
  type RolloutEvents,
  type WriteOutcome,
} from '../../../controller/index.ts';
import { keyOf } from '../../../kube/index.ts';
import { hasGate, isPreparing, type PodFacts } from '../../../rollout/index.ts';
import { gate } from '../../../words/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { boundToContent } from '../inplace/bound-patch.ts';
import { updatableContainers } from '../inplace/plan.ts';
import { type InPlaceStep, nextInPlaceStep, resizePatch } from '../inplace/step.ts';
import { nextDeleteStep } from '../lifecycle/pre-delete.ts';
import type { PodCreator } from '../placement/create-pods.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';
import type { TargetFinder } from '../revisions/target.ts';
import type { CachedPod } from './cached-pod.ts';
import type { ResizeReview } from './resize-review.ts';
import { SUSPENDED_MS } from './write-guards.ts';

/** Time for the cache to catch up with the version that a decision was based on. */
const STALE_CACHE_MS = 250;
/** How often to recheck a hook. A change of the pod is noticed sooner. */
const HOOK_RECHECK_MS = 10_000;

export const versionOf = ({ facts }: CachedPod): PodVersion => ({
  podName: facts.name,
  podUid: facts.uid,
  podResourceVersion: facts.resourceVersion,
});

/** The revision that a pod is updated to in place. */
export interface InPlaceTarget {
  /** Hash label. */
  revision: string;
  current: CurrentRevision;
}

export interface PodOperationsOptions
  extends Pick<ReconcilerContext<AdvancedView, CachedPod>, 'env' | 'view' | 'pods' | 'podCache' | 'podControl'> {
  ledger: Pick<ReconcilerContext<AdvancedView, CachedPod>['ledger'], 'get'>;
  events: Pick<RolloutEvents, 'event' | 'warnOnce'>;
  finder: Pick<TargetFinder, 'current'>;
  creator: Pick<PodCreator, 'createSurgePod'>;
  review: ResizeReview;
}

/** Changes whenever the user asks for something else. */
const specVersionOf = ({ generation, policy }: AdvancedView): string =>
  `${generation} ${policy.kind === 'on' ? policy.hash : policy.kind}`;

export interface PodOperations {
  podWrites: PodWrites;
  /** Deletes the pod, once the preDelete hook releases it. */
  deletePod: (cached: CachedPod, signal: AbortSignal) => Promise<WriteOutcome>;
  /** Undefined if the API server has the pod, and it doesn't terminate; else the outcome to return instead of relying on it. */
  findMissing: (pod: Pick<PodFacts, 'name' | 'uid'>, signal: AbortSignal) => Promise<WriteOutcome | undefined>;
  inPlaceStep: (cached: CachedPod, target: InPlaceTarget) => InPlaceStep;
  writeInPlaceStep: (cached: CachedPod, step: InPlaceStep, signal: AbortSignal) => Promise<WriteOutcome>;
  patch: (
    pod: PodVersion,
    patch: { kind: 'status' | 'pod' | 'resize'; body: object },
    signal: AbortSignal,
  ) => Promise<WriteOutcome>;
  preparingSince: (cached: CachedPod) => number;
  /** The cache shows a new version of the pod, or no longer shows it. */
  podObserved(cached: CachedPod, present: boolean): void;
}

/** Updates of single pods: deletion through the preDelete hook, in-place updates, surges. */
export const createPodOperations = (options: PodOperationsOptions): PodOperations => {
  const { env, view, ledger, pods, podCache, podControl, events, finder, creator, review } = options;
  const { clock } = env;
  /** By UID of the old pod of a surge: the version that the fence left, and the version that was fenced. */
  const fences = new Map<string, { fenced: string; left: string }>();
  /** By UID: when the pod was first seen prepared for deletion. */
  const preparing = new Map<string, number>();

  const waitForCache = (): WriteOutcome => ({ kind: 'later', at: clock.now() + STALE_CACHE_MS });
  const cachedPod = (name: string): CachedPod | undefined =>
    pods.get(keyOf({ metadata: { namespace: view().namespace, name } }));

  const patch = (
    pod: PodVersion,
    { kind, body }: { kind: 'status' | 'pod' | 'resize'; body: object },
    signal: AbortSignal,
  ): Promise<WriteOutcome> =>
    podControl.patch(
      pod,
      body,
      { type: 'strategic', ...(kind !== 'pod' && { subresource: kind }), ...decidedOnAgain },
      signal,
    );

  /** The cached pod in exactly this version; else the outcome to return instead of writing. */
  const cachedVersion = async (pod: PodVersion, signal: AbortSignal): Promise<CachedPod | WriteOutcome> => {
    const cached = cachedPod(pod.podName);
    if (cached?.facts.uid !== pod.podUid) return podControl.read(pod, signal);
    return cached.facts.resourceVersion === pod.podResourceVersion ? cached : waitForCache();
  };

  const findMissing = async (
    { name: podName, uid: podUid }: Pick<PodFacts, 'name' | 'uid'>,
    signal: AbortSignal,
  ): Promise<WriteOutcome | undefined> => {
    const found = await podControl.read({ podName, podUid }, signal);
    if (found.kind === 'unsure') return { ...found, kind: 'refused', reason: undefined };
    return found.kind === 'changed' && !found.pod.terminating ? undefined : waitForCache();
  };

  const preparingSince = ({ facts: { uid } }: CachedPod): number => preparing.get(uid) ?? clock.now();

  const deletePod = async (cached: CachedPod, signal: AbortSignal): Promise<WriteOutcome> => {
    const { preDelete: hook, preDeleteTimeoutMs: timeoutMs } = view();
    const { pod, facts } = cached;
    const step = nextDeleteStep({ pod, hook, timeoutMs, seenSince: preparingSince(cached), now: clock.now() });
    switch (step.kind) {
      case 'delete':
        if (step.overdue)
          events.event(
            'Warning',
            'PreDeleteTimeout',
            'Delete',
            `Deleting pod ${facts.name} on ${facts.node}: its preDelete hook did not release it within ${timeoutMs / 1000} s.`,
          );
        return podControl.delete(versionOf(cached), signal);
      case 'wait':
        // The timeout is set on the DaemonSet and may change.
        return { kind: 'later', at: Math.min(step.until, clock.now() + HOOK_RECHECK_MS) };
      case 'status':
      case 'pod': {
        if (hook?.markPodNotReady === true && !hasGate(pod.spec, gate.lifecycle))
          events.warnOnce(
            'markPodNotReady',
            'MarkPodNotReadyIneffective',
            'Delete',
            `Pod ${facts.name}, and possibly others, stay ready until they are deleted: they were created before markPodNotReady was set.`,
          );
        const outcome = await patch(versionOf(cached), step, signal);
        return outcome.kind === 'done' && outcome.pod ? { kind: 'changed', pod: outcome.pod } : outcome;
      }
    }
  };

  const resourcesOf = ({ revision, current }: InPlaceTarget) =>
    Object.fromEntries(
      updatableContainers(current.templates.get(revision)?.spec).flatMap(({ name, resources }) =>
        resources ? [[name, resources]] : [],
      ),
    );

  const inPlaceStep = ({ pod, facts }: CachedPod, target: InPlaceTarget): InPlaceStep => {
    const { revision, current } = target;
    const isCurrent = revision === current.target.hash;
    return nextInPlaceStep({
      pod,
      revision,
      plan: isCurrent && facts.revision !== revision ? current.plans.get(facts.revision) : undefined,
      resources: resourcesOf(target),
      graceMs: view().graceMs,
      now: clock.now(),
    });
  };

  const writeInPlaceStep = async (cached: CachedPod, step: InPlaceStep, signal: AbortSignal): Promise<WriteOutcome> => {
    switch (step.kind) {
      case 'status':
      case 'pod':
      case 'resize':
        return patch(versionOf(cached), step, signal);
      case 'wait':
        return { kind: 'later', at: step.until };
      case 'stuck':
        return { kind: 'refused', reason: 'Stuck', message: step.why };
      case 'done':
        return { kind: 'done', pod: cached.facts };
    }
  };

  const remove = async (_node: string, pod: PodVersion, signal: AbortSignal): Promise<WriteOutcome> => {
    if (!view().preDelete) return podControl.delete(pod, signal);
    const cached = await cachedVersion(pod, signal);
    return 'kind' in cached ? cached : deletePod(cached, signal);
  };

  /** The effect of a surge shows only on the new pod: once the watch has reached the fence, it has shown every pod that was created before. */
  const fenceSurge = async (pod: PodVersion, signal: AbortSignal): Promise<WriteOutcome> => {
    const { podUid, podResourceVersion: fenced } = pod;
    let left = fences.get(podUid)?.fenced === fenced ? fences.get(podUid)?.left : undefined;
    if (left === undefined) {
      const outcome = await podControl.fence(pod, signal);
      if ((outcome.kind !== 'done' && outcome.kind !== 'changed') || !outcome.pod) return outcome;
      left = outcome.pod.resourceVersion;
      if (left === fenced) return outcome;
      fences.set(podUid, { fenced, left });
    }
    if (!podCache.reached(left)) return waitForCache();
    fences.delete(podUid);
    const facts = cachedPod(pod.podName)?.facts;
    return facts?.uid === podUid ? { kind: 'done', pod: facts } : { kind: 'gone' };
  };

  /**
   * May the second of two writes follow the first? Not if the spec has changed, the node is no longer one to update, or this process
   * was suspended.
   */
  const createContinuation = (before: AdvancedView, name: string): (() => boolean) => {
    const startedAt = clock.now();
    return () => {
      const node = ledger.get(name)?.node;
      return (
        clock.now() - startedAt <= SUSPENDED_MS &&
        specVersionOf(view()) === specVersionOf(before) &&
        node?.eligible === true &&
        node.ready
      );
    };
  };

  /**
   * Changes a pod that our write has just taken out of service, whatever its kubelet reports meanwhile. If it is not as we left it, or
   * something else comes first, the next decision is made on what it is.
   */
  const changeClosed = async (
    begun: Extract<WriteOutcome, { kind: 'changed' }>,
    target: InPlaceTarget,
    signal: AbortSignal,
  ): Promise<WriteOutcome> => {
    const closed = cachedPod(begun.pod.name);
    if (closed?.facts.uid !== begun.pod.uid) return begun;
    const step = inPlaceStep(closed, target);
    const body = step.kind === 'pod' ? boundToContent(closed.pod, step.body, closed.gateAt) : undefined;
    if (!body) return begun;
    const pod = versionOf(closed);
    const outcome = await podControl.patch(pod, body, { type: 'json', ...decidedOnAgain }, signal);
    return outcome.kind === 'changed' ? { ...outcome, begun: true } : outcome;
  };

  const podWrites: PodWrites = {
    delete: remove,
    'delete-old': remove,
    async surge(node, pod, signal) {
      const before = view();
      const current = finder.current(before);
      if (!current) return waitForCache();
      const mayContinue = createContinuation(before, node);
      const claimed = await podControl.claim(pod, signal);
      if (claimed.kind !== 'done') return claimed;
      if (!mayContinue()) return claimed.pod ? { kind: 'changed', pod: claimed.pod } : podControl.read(pod, signal);
      return creator.createSurgePod(before, current, { node, replaces: pod.podUid }, signal);
    },
    async 'update-in-place'(node, pod, signal) {
      const before = view();
      const current = finder.current(before);
      if (!current) return waitForCache();
      const cached = await cachedVersion(pod, signal);
      if ('kind' in cached) return cached;
      const target: InPlaceTarget = { revision: current.target.hash, current };
      if (cached.facts.revision === target.revision) return { kind: 'done', pod: cached.facts };
      const step = inPlaceStep(cached, target);
      const resize = step.kind === 'status' ? resizePatch(cached.pod, resourcesOf(target)) : undefined;
      const refused = resize && (await review.ask(current, node, pod, resize.body, signal));
      if (refused) return refused;
      const mayContinue = createContinuation(before, node);
      const outcome = await writeInPlaceStep(cached, step, signal);
      if (step.kind === 'resize' && outcome.kind === 'refused')
        return review.instead(current, node, pod, outcome, signal);
      const prepares = step.kind === 'status' || step.kind === 'resize';
      if (!prepares || outcome.kind !== 'done' || !outcome.pod) return outcome;
      const begun = { kind: 'changed', pod: outcome.pod, begun: true } as const;
      return step.kind === 'status' && mayContinue() ? changeClosed(begun, target, signal) : begun;
    },
    fence: (_node, update, signal) =>
      update.kind === 'surge' ? fenceSurge(update, signal) : podControl.fence(update, signal),
  };

  return {
    podWrites,
    deletePod,
    findMissing,
    inPlaceStep,
    writeInPlaceStep,
    patch,
    preparingSince,
    podObserved({ pod, facts: { uid } }, present) {
      if (!present || !isPreparing(pod)) preparing.delete(uid);
      else if (!preparing.has(uid)) preparing.set(uid, clock.now());
    },
  };
};
