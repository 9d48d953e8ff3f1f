import { createAir, createPacing, FIELD_MANAGER, type ReconcilerContext } from '../../controller/index.ts';
import { compareVersions, isKubeError } from '../../kube/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { advancedDaemonSets } from '../api/types.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';
import { type PodUpdates, versionOf } from '../podcontrol/pod-updates.ts';
import type { PodWriter } from '../podcontrol/pod-writer.ts';
import { cancelDelete, type DeleteStep, HOOK_FINALIZER, hasHandlers, holdersOf, nextDeleteStep } from './pre-delete.ts';

export interface FinalizerOptions
  extends Pick<ReconcilerContext<AdvancedView, CachedPod>, 'client' | 'env' | 'events' | 'enqueue'> {
  updates: PodUpdates;
  writer: PodWriter;
}

const NEVER = Number.POSITIVE_INFINITY;
const TIMEOUT_MS = 10_000;
const WRITE = 'finalizer';
const FIRST_PODS = 10;

/** Pods that must go through their hook before their DaemonSet is deleted. */
export interface AwaitedPods {
  count: number;
  /** Names; of many the first alone. */
  first: readonly string[];
}

/**
 * How a DaemonSet with a preDelete hook is deleted: a finalizer holds it until its pods have been through the hook. One
 * without a hook has no finalizer, and needs nobody here to be deleted.
 */
export const createFinalizer = ({ client, env, events, enqueue, updates, writer }: FinalizerOptions) => {
  const { clock, log } = env;
  /** UIDs of the pods that the DaemonSet waits for: their names. */
  const awaited = new Map<string, string>();
  /** UIDs of pods whose preparation could not be taken back. */
  const given = new Set<string>();
  const pacing = createPacing({ firstMs: 250 });
  const air = createAir({
    clock,
    most: 1,
    ended: enqueue,
    failed(_key, error) {
      log.warn('the finalizer of the DaemonSet could not be written', { error });
      pacing.failed(WRITE, clock.now());
    },
  });
  let told = false;
  /** The version that our last write made of the DaemonSet. */
  let written = '';

  const stepOf = (view: AdvancedView, kept: CachedPod): DeleteStep | undefined => {
    const { ownership, pod, facts } = kept;
    const now = clock.now();
    if (ownership === 'native') return undefined;
    if (ownership === 'orphan' || view.deleted === 'pods-stay')
      return facts.terminating || given.has(facts.uid) ? undefined : cancelDelete(pod, now);
    const { preDelete: hook, preDeleteTimeoutMs: timeoutMs } = view;
    const step = nextDeleteStep({ pod, hook, timeoutMs, seenSince: updates.preparingSince(kept), now });
    if (!facts.terminating) return step;
    // Deleted by somebody else, such as the garbage collector with --cascade=foreground. Where a finalizer holds it, whoever
    // is to remove that must hear of it all the same, or the pod would stay for ever.
    const { finalizersHandler = [] } = hook ?? {};
    const isHeld = holdersOf(pod, { finalizersHandler }).length > 0;
    return isHeld && (step.kind === 'status' || step.kind === 'pod') ? step : undefined;
  };

  const write = async (view: AdvancedView, finalizers: readonly string[], signal: AbortSignal): Promise<void> => {
    const { namespace, name, uid, resourceVersion } = view;
    try {
      const { metadata } = await client.patch(
        advancedDaemonSets,
        { namespace, name },
        { metadata: { uid, resourceVersion, finalizers } },
        { type: 'merge', fieldManager: FIELD_MANAGER, timeoutMs: TIMEOUT_MS, signal },
      );
      written = metadata.resourceVersion ?? '';
      pacing.succeeded(WRITE);
    } catch (error) {
      // The DaemonSet went while we wrote: most likely by just this write.
      if (signal.aborted) return;
      // Gone, or changed since: the watch says what it is now.
      if (!isKubeError(error, 'NotFound')) pacing.failed(WRITE, clock.now());
      if (isKubeError(error, 'NotFound', 'Conflict')) return;
      log.warn('the finalizer of the DaemonSet could not be written', { error });
      const message = error instanceof Error ? error.message : String(error);
      if (isKubeError(error) && error.status > 0)
        events.warnOnce(
          `finalizer ${error.code}`,
          'FailedFinalizer',
          'Delete',
          `Could not write finalizer ${HOOK_FINALIZER} of the DaemonSet: ${message}`,
        );
    }
  };

  return {
    /** Begins what the pod of a DaemonSet that is being deleted needs. When to look at it again; undefined: at the next pass. */
    tend(view: AdvancedView, kept: CachedPod): number | undefined {
      const { uid, name, node } = kept.facts;
      const step = stepOf(view, kept);
      if (!step || step.kind === 'delete') awaited.delete(uid);
      else awaited.set(uid, name);
      if (!step) return NEVER;
      if (step.kind === 'wait') return step.until;
      const stays = kept.ownership === 'orphan' || view.deleted === 'pods-stay';
      const turn = writer.turnOf(kept);
      if (turn > clock.now()) return turn;
      writer.launch(
        kept,
        (signal) =>
          stays && step.kind !== 'delete'
            ? updates.patch(versionOf(kept), step, signal)
            : updates.deletePod(kept, signal),
        (outcome) => {
          if (outcome.kind === 'done' && step.kind === 'delete')
            events.event('Normal', 'SuccessfulDelete', 'Delete', `Deleted pod ${name} on ${node}: its DaemonSet goes.`);
          if (outcome.kind !== 'refused' || outcome.reason === undefined) return;
          events.podWriteRefused('delete', name, node, outcome.reason, outcome.message);
          if (stays) given.add(uid);
        },
      );
      return undefined;
    },
    gone({ facts: { uid } }: CachedPod): void {
      awaited.delete(uid);
      given.delete(uid);
    },
    /** The pods that the DaemonSet waits for: how many, and the names of the first. */
    awaited: (): AwaitedPods => ({ count: awaited.size, first: [...awaited.values().take(FIRST_PODS)] }),
    /**
     * Sees to it that the finalizer is there while it is wanted, and no longer. `mayGo`: no pod of the DaemonSet may be on
     * its way that was not looked at. When to be called again, epoch ms; Infinity for never.
     */
    keep(view: AdvancedView, mayGo: boolean): number {
      const has = view.finalizers.includes(HOOK_FINALIZER);
      const wanted = view.deleted ? awaited.size > 0 || !mayGo : hasHandlers(view.preDelete);
      if (view.deleted === 'with-pods' && awaited.size > 0 && !told) {
        told = true;
        const note = `Waiting for the preDelete hook of ${awaited.size} pods before the DaemonSet is deleted.`;
        events.event('Normal', 'AwaitingPreDelete', 'Delete', note);
      }
      const isBehind = (compareVersions(view.resourceVersion, written) ?? 0) < 0;
      if (has === wanted || air.has(WRITE) || isBehind) return NEVER;
      const turn = pacing.until(WRITE, clock.now());
      if (turn > clock.now()) return turn;
      const others = view.finalizers.filter((name) => name !== HOOK_FINALIZER);
      air.launch(WRITE, (signal) => write(view, wanted ? [...others, HOOK_FINALIZER] : others, signal));
      return NEVER;
    },
    stop: (graceMs: number): Promise<void> => air.stop(graceMs),
  };
};
export type Finalizer = ReturnType<typeof createFinalizer>;
