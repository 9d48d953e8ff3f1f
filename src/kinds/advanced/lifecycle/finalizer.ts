import { createInFlightWrites, type ReconcilerContext, type WriteResult } from '../../../controller/index.ts';
import { isKubeError } from '../../../kube/index.ts';
import { FIELD_MANAGER } from '../../../words/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { advancedDaemonSets } from '../api/types.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';
import type { MaintenanceWriter } from '../podcontrol/maintenance-writer.ts';
import { type PodOperations, versionOf } from '../podcontrol/pod-operations.ts';
import { cancelDelete, type DeleteStep, HOOK_FINALIZER, hasHandlers, holdersOf, nextDeleteStep } from './pre-delete.ts';

export interface FinalizerOptions
  extends Pick<ReconcilerContext<AdvancedView, CachedPod>, 'client' | 'env' | 'events' | 'enqueue' | 'accept'> {
  operations: PodOperations;
  writer: MaintenanceWriter;
}

const NEVER = Number.POSITIVE_INFINITY;
const TIMEOUT_MS = 10_000;
const WRITE = 'finalizer';
const NAMED_PODS = 10;

/** Pods that the preDelete hook must release before their DaemonSet is deleted. */
export interface AwaitedPods {
  count: number;
  /** Names of the first few. */
  first: readonly string[];
}

export interface Finalizer {
  /** Starts what a pod of a deleted DaemonSet needs. When to recheck it, epoch ms; undefined: at the next reconcile. */
  syncPod(view: AdvancedView, cached: CachedPod): number | undefined;
  podGone(cached: CachedPod): void;
  awaitedPods: () => AwaitedPods;
  /**
   * Adds or removes the finalizer. `allPodsSynced`: no pod of a deleted DaemonSet can be missing in `syncPod`. Returns
   * when to call it again, epoch ms; Infinity for never.
   */
  sync(view: AdvancedView, allPodsSynced: boolean): number;
  drain: (graceMs: number) => Promise<void>;
}

/**
 * The deletion of a DaemonSet with a preDelete hook: a finalizer holds it until the hook has released all of its pods. A
 * DaemonSet without a hook has no finalizer and can be deleted while no manager runs.
 */
export const createFinalizer = ({
  client,
  env,
  events,
  enqueue,
  accept,
  operations,
  writer,
}: FinalizerOptions): Finalizer => {
  const { clock, log } = env;
  /** By UID: names of the pods that the deletion waits for. */
  const awaited = new Map<string, string>();
  /** UIDs of pods whose prepared deletion could not be cancelled. */
  const uncancellable = new Set<string>();
  const warnFailed = (error: unknown): void => log.warn('failed to write the finalizer of the DaemonSet', { error });
  const writes = createInFlightWrites({
    clock,
    limit: 1,
    backoff: { baseMs: 250 },
    onWriteDone: enqueue,
    failed: (_key, error) => warnFailed(error),
  });
  let reported = false;

  const staysRunning = (view: AdvancedView, { ownership }: CachedPod): boolean =>
    ownership === 'orphan' || view.deleted === 'pods-stay';

  const nextStep = (view: AdvancedView, cached: CachedPod): DeleteStep | undefined => {
    const { ownership, pod, facts } = cached;
    const now = clock.now();
    if (ownership === 'other') return undefined;
    if (staysRunning(view, cached))
      return facts.terminating || uncancellable.has(facts.uid) ? undefined : cancelDelete(pod, now);
    const { preDelete: hook, preDeleteTimeoutMs: timeoutMs } = view;
    const step = nextDeleteStep({ pod, hook, timeoutMs, seenSince: operations.preparingSince(cached), now });
    if (!facts.terminating) return step;
    // Deleted by others, for example the garbage collector with --cascade=foreground. If a finalizer of the hook holds the
    // pod, the hook's controller must still be told, or the pod would never go.
    const { finalizersHandler = [] } = hook ?? {};
    const isHeld = holdersOf(pod, { finalizersHandler }).length > 0;
    return isHeld && (step.kind === 'status' || step.kind === 'pod') ? step : undefined;
  };

  const write = async (
    { namespace, name, uid, resourceVersion }: AdvancedView,
    finalizers: readonly string[],
    signal: AbortSignal,
  ): Promise<WriteResult> => {
    try {
      const written = await client.patch(
        advancedDaemonSets,
        { namespace, name },
        { metadata: { uid, resourceVersion, finalizers } },
        { type: 'merge', fieldManager: FIELD_MANAGER, timeoutMs: TIMEOUT_MS, signal },
      );
      accept(written);
      return 'succeeded';
    } catch (error) {
      if (isKubeError(error, 'NotFound')) accept(undefined);
      if (signal.aborted || isKubeError(error, 'NotFound')) return 'unchanged';
      if (isKubeError(error, 'Conflict')) return 'failed';
      warnFailed(error);
      if (isKubeError(error) && error.status > 0)
        events.warnOnce(
          `finalizer ${error.code}`,
          'FailedFinalizer',
          'Delete',
          `Could not write finalizer ${HOOK_FINALIZER} of the DaemonSet: ${error.message}`,
        );
      return 'failed';
    }
  };

  return {
    syncPod(view, cached) {
      const { uid, name, node } = cached.facts;
      const step = nextStep(view, cached);
      if (!step || step.kind === 'delete') awaited.delete(uid);
      else awaited.set(uid, name);
      if (!step) return NEVER;
      if (step.kind === 'wait') return step.until;
      const stays = staysRunning(view, cached);
      const nextWriteAt = writer.nextWriteAt(cached);
      if (nextWriteAt > clock.now()) return nextWriteAt;
      writer.start(
        cached,
        (signal) =>
          stays && step.kind !== 'delete'
            ? operations.patch(versionOf(cached), step, signal)
            : operations.deletePod(cached, signal),
        (outcome) => {
          if (outcome.kind === 'done' && step.kind === 'delete')
            events.event(
              'Normal',
              'SuccessfulDelete',
              'Delete',
              `Deleted pod ${name} on ${node}: its DaemonSet is being deleted.`,
            );
          if (outcome.kind !== 'refused' || outcome.reason === undefined) return;
          events.podWriteRefused('delete', name, node, outcome.reason, outcome.message);
          if (stays) uncancellable.add(uid);
        },
      );
      return undefined;
    },
    podGone({ facts: { uid } }) {
      awaited.delete(uid);
      uncancellable.delete(uid);
    },
    awaitedPods: () => ({ count: awaited.size, first: [...awaited.values().take(NAMED_PODS)] }),
    sync(view, allPodsSynced) {
      const isPresent = view.finalizers.includes(HOOK_FINALIZER);
      const isNeeded = view.deleted ? awaited.size > 0 || !allPodsSynced : hasHandlers(view.preDelete);
      if (view.deleted === 'with-pods' && awaited.size > 0 && !reported) {
        reported = true;
        const note = `Waiting for the preDelete hook to release ${awaited.size} pods before the DaemonSet is deleted.`;
        events.event('Normal', 'AwaitingPreDelete', 'Delete', note);
      }
      if (isPresent === isNeeded) return NEVER;
      const others = view.finalizers.filter((name) => name !== HOOK_FINALIZER);
      return writes.start(WRITE, (signal) => write(view, isNeeded ? [...others, HOOK_FINALIZER] : others, signal));
    },
    drain: (graceMs) => writes.drain(graceMs),
  };
};
