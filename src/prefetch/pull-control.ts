import type { Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { controllerRevisions, isKubeError, type KubeClient, type KubeErrorCode, pods } from '../kube/index.ts';
import {
  controllerOf,
  type ImageRequest,
  imageReadyPatch,
  type RequestingDaemonSet,
  recordedTemplate,
} from '../rollout/index.ts';
import { createKeyedBackoff, type Env } from '../runtime/index.ts';
import { pullPodOf } from './pull-pod.ts';
import { type PullView, shorten } from './pull-status.ts';
import { imagesBeyond } from './template-images.ts';

/** A request without a response is not waited for longer. */
const WRITE_TIMEOUT_MS = 10_000;
const FIELD_MANAGER = 'edgeset-manager';
const RETRY_MS = 2_000;
const REMOVE_BACKOFF = { baseMs: 1_000, maxMs: 60_000 };
/** Requests for more revisions at once are rare: what is no longer cached is read again. */
const MAX_TEMPLATES = 4;

export type CreateOutcome =
  /** The pull pod exists, or may exist. */
  | { kind: 'sent' }
  /** None is needed: the target's images are on the node. */
  | { kind: 'needless' }
  /** None can be created, for a reason that someone must fix. */
  | { kind: 'refused'; cause: string }
  /** The API server is not available at the moment. */
  | { kind: 'later'; afterMs: number };

const hasContainers = (template: object | undefined): template is { spec: PodSpec } => {
  const { spec } = (template ?? {}) as { spec?: { containers?: unknown } };
  return Array.isArray(spec?.containers) && spec.containers.length > 0;
};

/** By a quota or Pod Security (Forbidden), an admission webhook (BadRequest, Unknown), a deleted namespace (NotFound). */
const REFUSALS: ReadonlySet<KubeErrorCode> = new Set(['Forbidden', 'Invalid', 'BadRequest', 'NotFound', 'Unknown']);

const outcomeOf = (error: unknown): CreateOutcome => {
  if (!isKubeError(error)) throw error;
  const { code, happened, message, retryAfterSeconds = 0 } = error;
  if (code === 'AlreadyExists' || happened === 'unknown') return { kind: 'sent' };
  return REFUSALS.has(code)
    ? { kind: 'refused', cause: shorten(`no pull pod can be created: ${message}`) }
    : { kind: 'later', afterMs: Math.max(RETRY_MS, retryAfterSeconds * 1000) };
};

/** Creates and deletes pull pods, and reports their outcome on the requesting pods. */
export const createPullControl = (client: KubeClient, { clock, log }: Pick<Env, 'clock' | 'log'>) => {
  /** The last templates of each DaemonSet: its pods request the same ones at nearly the same time. */
  const templates = new Map<string, Map<string, PodSpec | undefined>>();
  /** UIDs of deleted pull pods, until their watch shows that. */
  const removed = new Set<string>();
  const removeBackoff = createKeyedBackoff(REMOVE_BACKOFF);

  const templateOf = async (
    { namespace, uid }: RequestingDaemonSet,
    revision: string,
    signal: AbortSignal,
  ): Promise<PodSpec | undefined> => {
    const known = templates.get(uid);
    if (known?.has(revision)) return known.get(revision);
    const labelSelector = `controller-revision-hash=${revision}`;
    const { items } = await client.list(controllerRevisions, { namespace, labelSelector, signal });
    // The condition names a hash, which any client may have written: only the DaemonSet's own revisions count.
    const own = items.find((item) => controllerOf(item)?.uid === uid);
    const template = own && recordedTemplate(own);
    const spec = hasContainers(template) ? template.spec : undefined;
    const kept = known && known.size < MAX_TEMPLATES ? known : new Map<string, PodSpec | undefined>();
    if (spec) templates.set(uid, kept.set(revision, spec));
    return spec;
  };

  /**
   * Deletes without a grace period, also if the node is unreachable: nothing runs in the pod, and a kubelet that
   * reconnects drops what the API server does not have.
   */
  const deletePod = async ({ namespace, name, uid }: PullView, signal: AbortSignal): Promise<void> => {
    try {
      const options = { preconditions: { uid }, gracePeriodSeconds: 0, timeoutMs: WRITE_TIMEOUT_MS, signal };
      await client.delete(pods, { namespace, name }, options);
    } catch (error) {
      // A conflict does not prove that another pod has the name: if one has, the watch shows it.
      if (!isKubeError(error, 'NotFound')) throw error;
    }
  };

  return {
    async create(daemonSet: RequestingDaemonSet, request: ImageRequest, signal: AbortSignal): Promise<CreateOutcome> {
      try {
        const template = await templateOf(daemonSet, request.revision, signal);
        if (!template)
          return { kind: 'refused', cause: `DaemonSet ${daemonSet.name} has no revision ${request.revision}` };
        const other = request.runs === undefined ? undefined : await templateOf(daemonSet, request.runs, signal);
        const images = imagesBeyond(template, other);
        if (images.length === 0) return { kind: 'needless' };
        const pod: Pod = pullPodOf(daemonSet, request, template, images);
        await client.create(pods, pod, { fieldManager: FIELD_MANAGER, timeoutMs: WRITE_TIMEOUT_MS, signal });
        return { kind: 'sent' };
      } catch (error) {
        signal.throwIfAborted();
        return outcomeOf(error);
      }
    },

    /**
     * Sets the condition of the requesting pod as it was when it asked: a later request must not be overwritten. False if
     * the pod has changed, or is gone.
     */
    async report(
      namespace: string,
      { podName, podUid, resourceVersion, revision }: ImageRequest,
      cause: string | undefined,
      now: number,
      signal: AbortSignal,
    ): Promise<boolean> {
      const outcome =
        cause === undefined ? { reason: 'PullImageSuccess' as const } : { reason: 'PullImageFail' as const, cause };
      const patch = imageReadyPatch({ uid: podUid, status: 'False' }, { ...outcome, revision }, now);
      const body = { ...patch, metadata: { uid: podUid, resourceVersion } };
      const options = { type: 'strategic', subresource: 'status', fieldManager: FIELD_MANAGER } as const;
      try {
        await client.patch(pods, { namespace, name: podName }, body, {
          ...options,
          timeoutMs: WRITE_TIMEOUT_MS,
          signal,
        });
        return true;
      } catch (error) {
        if (isKubeError(error, 'Conflict', 'NotFound')) return false;
        throw error;
      }
    },

    /** Deletes a pull pod: one that cannot be deleted backs off, and delays no other. */
    async remove(pull: PullView, signal: AbortSignal): Promise<void> {
      const { uid, namespace, name } = pull;
      // Before its watch can show it.
      removed.add(uid);
      try {
        await deletePod(pull, signal);
        removeBackoff.reset(uid);
      } catch (error) {
        // Unless the watch has shown meanwhile that it is gone: another client has deleted it.
        const stays = removed.delete(uid);
        signal.throwIfAborted();
        if (!stays) return;
        const now = clock.now();
        removeBackoff.failed(uid, now);
        const retryMs = removeBackoff.nextAttemptAt(uid, now) - now;
        log.warn('failed to delete a pull pod', { namespace, pod: name, error, retryMs });
      }
    },
    /** The pull pod is deleted, whatever the watch shows. */
    isRemoved: (uid: string): boolean => removed.has(uid),
    /** When the pull pod may be deleted; a time in the past for at once. */
    removableAt: (uid: string, now: number): number => removeBackoff.nextAttemptAt(uid, now),
    /** The watch no longer shows the pull pod. */
    forgetPod(uid: string): void {
      removed.delete(uid);
      removeBackoff.reset(uid);
    },
    /** The DaemonSet has no requests left. */
    forgetDaemonSet: (uid: string): boolean => templates.delete(uid),
  };
};
