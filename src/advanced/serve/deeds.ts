import type { Acts, Outcome, PodVersion, Surroundings } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { exchangeable, type InPlaceStep, nextInPlaceStep } from '../in-place/index.ts';
import { beforeDelete } from '../lifecycle/index.ts';
import { gate, hasGate } from '../pods/index.ts';
import type { Creator } from './creator.ts';
import type { KeptPod } from './kept-pod.ts';
import type { KnownRevision } from './revision-keeper.ts';
import type { TargetFinder } from './target.ts';

/** The watch is behind the version that a decision was made on: it will have it soon. */
const BEHIND_MS = 250;

export const versionOf = ({ facts }: KeptPod): PodVersion => ({
  podName: facts.name,
  podUid: facts.uid,
  podResourceVersion: facts.resourceVersion,
});

/** Where a pod is to be brought to in place. */
export interface Destination {
  /** Hash label. */
  revision: string;
  known: KnownRevision;
}

export interface DeedsOptions
  extends Pick<Surroundings<AdvancedView, KeptPod>, 'env' | 'view' | 'pods' | 'podActs' | 'teller'> {
  finder: TargetFinder;
  creator: Creator;
}

/** Writes to single pods: on their way out past the user's hook, and from one template to another while they run. */
export const createDeeds = ({ env, view, pods, podActs, teller, finder, creator }: DeedsOptions) => {
  const { clock } = env;

  const patch = (
    pod: PodVersion,
    step: { kind: 'status' | 'pod' | 'resize'; body: object },
    signal: AbortSignal,
  ): Promise<Outcome> =>
    podActs.patch(
      pod,
      step.body,
      { type: 'strategic', ...(step.kind !== 'pod' && { subresource: step.kind }) },
      signal,
    );

  /** What else is known of just this version of the pod; else what is to be said instead of an act. */
  const keptOf = async (pod: PodVersion, signal: AbortSignal): Promise<KeptPod | Outcome> => {
    const kept = pods.get(keyOf({ metadata: { namespace: view().namespace, name: pod.podName } }));
    if (kept?.facts.uid !== pod.podUid) return podActs.read(pod, signal);
    return kept.facts.resourceVersion === pod.podResourceVersion
      ? kept
      : { kind: 'later', at: clock.now() + BEHIND_MS };
  };

  /** Deletes the pod, once the hook's controller has let it go. */
  const takeAway = async (kept: KeptPod, signal: AbortSignal): Promise<Outcome> => {
    const { preDelete: hook, preDeleteTimeoutMs: timeoutMs } = view();
    const { pod, facts } = kept;
    const step = beforeDelete({ pod, hook, timeoutMs, now: clock.now() });
    switch (step.kind) {
      case 'delete':
        if (step.overdue)
          teller.tell(
            'Warning',
            'PreDeleteTimeout',
            'Delete',
            `Pod ${facts.name} on ${facts.node} is deleted though its preDelete hook has not let it go in ${timeoutMs / 1000} s.`,
          );
        return podActs.delete(versionOf(kept), signal);
      case 'wait':
        return { kind: 'later', at: step.until };
      case 'status':
      case 'pod': {
        if (hook?.markPodNotReady === true && !hasGate(pod.spec, gate.lifecycle))
          teller.once(
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

  const stepFor = ({ pod, facts }: KeptPod, { revision, known }: Destination): InPlaceStep => {
    const template = known.templates.get(revision);
    const isTarget = revision === known.target.hash;
    return nextInPlaceStep({
      pod,
      revision,
      plan: isTarget && facts.revision !== revision ? known.plans.get(facts.revision) : undefined,
      resources: Object.fromEntries(
        exchangeable(template?.spec).flatMap(({ name, resources }) => (resources ? [[name, resources]] : [])),
      ),
      graceMs: view().graceMs,
      now: clock.now(),
    });
  };

  const write = async (kept: KeptPod, step: InPlaceStep, signal: AbortSignal): Promise<Outcome> => {
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

  const remove = async (_node: string, pod: PodVersion, signal: AbortSignal): Promise<Outcome> => {
    if (!view().preDelete) return podActs.delete(pod, signal);
    const kept = await keptOf(pod, signal);
    return 'kind' in kept ? kept : takeAway(kept, signal);
  };

  const acts: Acts = {
    delete: remove,
    retire: remove,
    async surge(node, { podUid }, signal) {
      const known = finder.known(view());
      if (!known) return { kind: 'later', at: clock.now() + BEHIND_MS };
      return creator.beside(view(), known, { node, replaces: podUid }, signal);
    },
    async change(_node, pod, signal) {
      const known = finder.known(view());
      if (!known) return { kind: 'later', at: clock.now() + BEHIND_MS };
      const kept = await keptOf(pod, signal);
      if ('kind' in kept) return kept;
      return write(kept, stepFor(kept, { revision: known.target.hash, known }), signal);
    },
    fence: (_node, pod, signal) => podActs.fence(pod, signal),
  };

  return { acts, takeAway, stepFor, write, patch };
};
export type Deeds = ReturnType<typeof createDeeds>;
