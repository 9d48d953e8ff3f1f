import {
  type PodVersion,
  type PodWrites,
  type ReconcilerContext,
  type RolloutEvents,
  updateKnownPod,
  type WriteOutcome,
} from '../../controller/index.ts';
import { compareVersions, keyOf } from '../../kube/index.ts';
import { gate, hasGate, isPreparing, type PodFacts } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { updatableContainers } from '../inplace/plan.ts';
import { type InPlaceStep, nextInPlaceStep } from '../inplace/step.ts';
import { nextDeleteStep } from '../lifecycle/pre-delete.ts';
import type { PodCreator } from '../placement/create-pods.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';
import type { TargetFinder } from '../revisions/target.ts';
import type { CachedPod } from './cached-pod.ts';
import { SUSPENDED_MS } from './write-guards.ts';

/** The watch is behind the version that a decision was made on: it will have it soon. */
const BEHIND_MS = 250;
/** How often to look whether a hook is still to be waited for; when the pod changes it is looked at anyway. */
const HOOK_LOOK_MS = 10_000;
/** How long a kubelet is waited for that is to say that a pod is not ready any more. */
const KUBELET_ANSWERS_MS = 1_000;

export const versionOf = ({ facts }: CachedPod): PodVersion => ({
  podName: facts.name,
  podUid: facts.uid,
  podResourceVersion: facts.resourceVersion,
});

/** Where a pod is to be brought to in place. */
export interface Destination {
  /** Hash label. */
  revision: string;
  known: CurrentRevision;
}

export interface PodUpdatesOptions
  extends Pick<ReconcilerContext<AdvancedView, CachedPod>, 'env' | 'view' | 'ledger' | 'pods' | 'podControl'> {
  events: Pick<RolloutEvents, 'event' | 'warnOnce'>;
  finder: Pick<TargetFinder, 'known'>;
  creator: Pick<PodCreator, 'createSurgePod'>;
}

/** Changes with all that a user can ask for. */
const wishOf = ({ generation, policy }: AdvancedView): string =>
  `${generation} ${policy.kind === 'on' ? policy.hash : policy.kind}`;

/** Writes to single pods: on their way out past the user's hook, and from one template to another while they run. */
export const createPodUpdates = ({
  env,
  view,
  ledger,
  pods,
  podControl,
  events,
  finder,
  creator,
}: PodUpdatesOptions) => {
  const { clock } = env;
  /** By UID of an old pod: the version that a fence left, and of which version the act was. */
  const fences = new Map<string, { ofAct: string; left: string }>();
  /** By UID: since when a pod has been seen prepared for its end. */
  const preparing = new Map<string, number>();

  const behind = (): WriteOutcome => ({ kind: 'later', at: clock.now() + BEHIND_MS });
  const keptOn = ({ podName: name }: Pick<PodVersion, 'podName'>): CachedPod | undefined =>
    pods.get(keyOf({ metadata: { namespace: view().namespace, name } }));

  const patch = (
    pod: PodVersion,
    step: { kind: 'status' | 'pod' | 'resize'; body: object },
    signal: AbortSignal,
  ): Promise<WriteOutcome> =>
    podControl.patch(
      pod,
      step.body,
      { type: 'strategic', ...(step.kind !== 'pod' && { subresource: step.kind }) },
      signal,
    );

  /** By UID: called when the watch shows something new of a pod that is waited for. */
  const listeners = new Map<string, () => void>();

  /**
   * The kubelet writes to a pod as soon as its gate is shut, and what was decided before that is refused. So it is waited
   * for, though not long: it may be gone, or have nothing to say.
   */
  const untilKubeletAnswers = (shut: PodFacts, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        listeners.delete(shut.uid);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const look = (): void => {
        const shown = keptOn({ podName: shut.name });
        const isReady = shown?.pod.status?.conditions?.some(
          ({ type, status }) => type === 'Ready' && status === 'True',
        );
        if (signal.aborted || shown?.facts.uid !== shut.uid || !isReady) end();
      };
      const timer = clock.timer(KUBELET_ANSWERS_MS, end);
      listeners.set(shut.uid, look);
      signal.addEventListener('abort', end, { once: true });
      look();
    });

  /** What else is known of just this version of the pod; else what is to be said instead of an act. */
  const keptOf = async (pod: PodVersion, signal: AbortSignal): Promise<CachedPod | WriteOutcome> => {
    const kept = keptOn(pod);
    if (kept?.facts.uid !== pod.podUid) return podControl.read(pod, signal);
    return kept.facts.resourceVersion === pod.podResourceVersion ? kept : behind();
  };

  const preparingSince = ({ facts: { uid } }: CachedPod): number => preparing.get(uid) ?? clock.now();

  /** Deletes the pod, once the hook's controller has let it go. */
  const deletePod = async (kept: CachedPod, signal: AbortSignal): Promise<WriteOutcome> => {
    const { preDelete: hook, preDeleteTimeoutMs: timeoutMs } = view();
    const { pod, facts } = kept;
    const step = nextDeleteStep({ pod, hook, timeoutMs, seenSince: preparingSince(kept), now: clock.now() });
    switch (step.kind) {
      case 'delete':
        if (step.overdue)
          events.event(
            'Warning',
            'PreDeleteTimeout',
            'Delete',
            `Pod ${facts.name} on ${facts.node} is deleted though its preDelete hook has not let it go in ${timeoutMs / 1000} s.`,
          );
        return podControl.delete(versionOf(kept), signal);
      case 'wait':
        // How long it lasts is said on the DaemonSet, and may change.
        return { kind: 'later', at: Math.min(step.until, clock.now() + HOOK_LOOK_MS) };
      case 'status':
      case 'pod': {
        if (hook?.markPodNotReady === true && !hasGate(pod.spec, gate.lifecycle))
          events.warnOnce(
            'markPodNotReady',
            'MarkPodNotReadyIneffective',
            'Delete',
            `Pod ${facts.name} stays ready until it is deleted, and maybe others: it was created before markPodNotReady was set.`,
          );
        const outcome = await patch(versionOf(kept), step, signal);
        return outcome.kind === 'done' && outcome.pod ? { kind: 'changed', pod: outcome.pod } : outcome;
      }
    }
  };

  const stepFor = ({ pod, facts }: CachedPod, { revision, known }: Destination): InPlaceStep => {
    const template = known.templates.get(revision);
    const isTarget = revision === known.target.hash;
    return nextInPlaceStep({
      pod,
      revision,
      plan: isTarget && facts.revision !== revision ? known.plans.get(facts.revision) : undefined,
      resources: Object.fromEntries(
        updatableContainers(template?.spec).flatMap(({ name, resources }) => (resources ? [[name, resources]] : [])),
      ),
      graceMs: view().graceMs,
      now: clock.now(),
    });
  };

  const write = async (kept: CachedPod, step: InPlaceStep, signal: AbortSignal): Promise<WriteOutcome> => {
    switch (step.kind) {
      case 'status':
      case 'pod':
      case 'resize':
        return patch(versionOf(kept), step, signal);
      case 'wait':
        return { kind: 'later', at: step.until };
      case 'stuck':
        return { kind: 'refused', reason: 'Stuck', message: step.why };
      case 'done':
        return { kind: 'done', pod: kept.facts };
    }
  };

  const remove = async (_node: string, pod: PodVersion, signal: AbortSignal): Promise<WriteOutcome> => {
    if (!view().preDelete) return podControl.delete(pod, signal);
    const kept = await keptOf(pod, signal);
    return 'kind' in kept ? kept : deletePod(kept, signal);
  };

  /**
   * What a surge has created shows on the new pod alone. The watch tells of pods in the order of their versions: once it
   * shows the old one as the fence left it, it has shown every pod that was created before.
   */
  const fenceSurge = async (pod: PodVersion, signal: AbortSignal): Promise<WriteOutcome> => {
    const { podUid, podResourceVersion: ofAct } = pod;
    let left = fences.get(podUid)?.ofAct === ofAct ? fences.get(podUid)?.left : undefined;
    if (left === undefined) {
      const outcome = await podControl.fence(pod, signal);
      if ((outcome.kind !== 'done' && outcome.kind !== 'changed') || !outcome.pod) return outcome;
      left = outcome.pod.resourceVersion;
      if (left === ofAct) return outcome;
      fences.set(podUid, { ofAct, left });
    }
    const shown = keptOn(pod)?.facts;
    const there = shown?.uid === podUid ? shown : undefined;
    if (there && (compareVersions(there.resourceVersion, left) ?? 0) < 0) return behind();
    fences.delete(podUid);
    return there ? { kind: 'done', pod: there } : { kind: 'gone' };
  };

  /**
   * Of an act of two writes: may the second follow the first? Not when something else is asked for meanwhile, nor when who
   * is about to send it was asleep.
   */
  const inOneGo = (seen: AdvancedView): (() => boolean) => {
    const begunAt = clock.now();
    return () => clock.now() - begunAt <= SUSPENDED_MS && wishOf(view()) === wishOf(seen);
  };

  const acts: PodWrites = {
    delete: remove,
    retire: remove,
    async surge(node, pod, signal) {
      const seen = view();
      const known = finder.known(seen);
      if (!known) return behind();
      const mayGoOn = inOneGo(seen);
      const claimed = await podControl.claim(pod, signal);
      if (claimed.kind !== 'done') return claimed;
      if (!mayGoOn()) return claimed.pod ? { kind: 'changed', pod: claimed.pod } : podControl.read(pod, signal);
      return creator.createSurgePod(seen, known, { node, replaces: pod.podUid }, signal);
    },
    async change(_node, pod, signal) {
      const seen = view();
      const known = finder.known(seen);
      if (!known) return behind();
      const kept = await keptOf(pod, signal);
      if ('kind' in kept) return kept;
      const to: Destination = { revision: known.target.hash, known };
      if (kept.facts.revision === to.revision) return { kind: 'done', pod: kept.facts };
      const first = stepFor(kept, to);
      const outcome = await write(kept, first, signal);
      if (first.kind !== 'status' || outcome.kind !== 'done' || !outcome.pod) return outcome;
      updateKnownPod(ledger, outcome.pod, clock.now());
      if (kept.facts.ready) await untilKubeletAnswers(outcome.pod, signal);
      // The change itself is decided, and its slot reserved, on what the pod is then.
      return { kind: 'changed', pod: outcome.pod };
    },
    fence: (_node, act, signal) => (act.kind === 'surge' ? fenceSurge(act, signal) : podControl.fence(act, signal)),
  };

  return {
    acts,
    deletePod,
    stepFor,
    write,
    patch,
    preparingSince,
    /** The watch shows something new of the pod, or that it is gone. */
    seen({ pod, facts: { uid } }: CachedPod, there: boolean): void {
      listeners.get(uid)?.();
      if (!there || !isPreparing(pod)) preparing.delete(uid);
      else if (!preparing.has(uid)) preparing.set(uid, clock.now());
    },
  };
};
export type PodUpdates = ReturnType<typeof createPodUpdates>;
