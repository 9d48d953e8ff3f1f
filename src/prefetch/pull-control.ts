import type { Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import {
  controllerRevisions,
  ifFound,
  isKubeError,
  type KubeClient,
  type KubeErrorCode,
  keyOf,
  pagesOf,
  pods,
} from '../kube/index.ts';
import {
  controllerOf,
  type ImageRequest,
  imageReadyPatch,
  imagesBeyond,
  type RequestingDaemonSet,
  recordedTemplate,
} from '../rollout/index.ts';
import { createKeyedBackoff, type Env } from '../runtime/index.ts';
import { FIELD_MANAGER } from '../words/index.ts';
import { pullPodName, pullPodOf } from './pull-pod.ts';
import { type PullView, toCause } from './pull-status.ts';

/** A request without a response is not waited for longer. */
const WRITE_TIMEOUT_MS = 10_000;
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
  /** The API server is not available at the moment, or another pod has the name. */
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
  if (happened === 'unknown') return { kind: 'sent' };
  return REFUSALS.has(code)
    ? { kind: 'refused', cause: toCause(`no pull pod can be created: ${message}`) }
    : { kind: 'later', afterMs: Math.max(RETRY_MS, retryAfterSeconds * 1000) };
};

/** The cache of pull pods. */
export interface PullCache {
  has(pull: PullView): boolean;
  /** The API server no longer has the pull pod, or only until a finalizer is removed. */
  acceptDeletion(pull: PullView): void;
}

/** A kubelet that deletes images again after they were pulled again would do so forever. */
const MAX_DELETIONS = 2;
const REST_MS = 86_400_000;

/** Why the images are not pulled again now; undefined: nothing speaks against it. */
const restAfter = ({ deletions }: ImageRequest, now: number): string | undefined =>
  deletions && deletions.count >= MAX_DELETIONS && now - deletions.seenAt < REST_MS
    ? `the kubelet has deleted the images ${deletions.count} times before the update: they are pulled again after a day`
    : undefined;

/** Why the node's disk has no room for the images; undefined: it may have. */
export type ShortageOf = (node: string, images: readonly string[]) => string | undefined;

/** Creates and deletes pull pods, and reports their outcome on the requesting pods. */
export const createPullControl = (
  client: KubeClient,
  { clock, random, log }: Env,
  cache: PullCache,
  shortageOf: ShortageOf,
) => {
  /** The last templates of each DaemonSet: its pods request the same ones at nearly the same time. */
  const templates = new Map<string, Map<string, PodSpec | undefined>>();
  /** The pull pods that this process created, by namespace and name. Without a UID: the response was lost. */
  const created = new Map<string, string | undefined>();
  /** Names that another pod has, by namespace and name. */
  const taken = new Set<string>();
  /** Templates that are being read, by DaemonSet and revision. */
  const underWay = new Map<string, Promise<PodSpec | undefined>>();
  const removeBackoff = createKeyedBackoff(REMOVE_BACKOFF);

  /** The DaemonSet's own revision: the condition names a hash, which any client may have written. */
  const readTemplate = async (namespace: string, uid: string, revision: string, signal: AbortSignal) => {
    const labelSelector = `controller-revision-hash=${revision}`;
    for await (const { items } of pagesOf(client, controllerRevisions, { namespace, labelSelector, signal })) {
      const own = items.find((item) => controllerOf(item)?.uid === uid);
      const template = own && recordedTemplate(own);
      if (hasContainers(template)) return template.spec;
    }
    return undefined;
  };

  /** Many pull pods are created together, and need the same template. */
  const readOnce = (namespace: string, uid: string, revision: string, signal: AbortSignal) => {
    const key = `${uid} ${revision}`;
    const reading =
      underWay.get(key) ?? readTemplate(namespace, uid, revision, signal).finally(() => underWay.delete(key));
    underWay.set(key, reading);
    return reading;
  };

  const templateOf = async (
    { namespace, uid }: RequestingDaemonSet,
    revision: string,
    signal: AbortSignal,
  ): Promise<PodSpec | undefined> => {
    const known = templates.get(uid);
    if (known?.has(revision)) return known.get(revision);
    const spec = await readOnce(namespace, uid, revision, signal);
    const kept = known && known.size < MAX_TEMPLATES ? known : new Map<string, PodSpec | undefined>();
    if (spec) templates.set(uid, kept.set(revision, spec));
    return spec;
  };

  /** Another pod with the usual name, and a finalizer, must not prevent pulls. */
  const suffixFor = ({ namespace }: RequestingDaemonSet, { podUid, revision }: ImageRequest): string =>
    taken.delete(`${namespace}/${pullPodName(podUid, revision)}`)
      ? `-${Math.floor(random() * 36 ** 8).toString(36)}`
      : '';

  /**
   * The name is taken. The watch may be behind a pull pod of this process or of an earlier leader: another one, under another
   * name, would pull the same images beside it.
   */
  const afterCollision = async (
    pod: Pod,
    isOurs: (uid: string) => boolean,
    signal: AbortSignal,
  ): Promise<CreateOutcome> => {
    const key = keyOf(pod);
    const { namespace = '', name = '' } = pod.metadata ?? {};
    const holder = await ifFound(client.get(pods, { namespace, name }, { timeoutMs: WRITE_TIMEOUT_MS, signal }));
    const { uid = '', deletionTimestamp } = holder?.metadata ?? {};
    if (holder && !deletionTimestamp && isOurs(uid)) {
      created.set(key, uid);
      return { kind: 'sent' };
    }
    if (holder) taken.add(key);
    return { kind: 'later', afterMs: RETRY_MS };
  };

  const createPod = async (
    pod: Pod,
    isInherited: (uid: string) => boolean,
    signal: AbortSignal,
  ): Promise<CreateOutcome> => {
    const key = keyOf(pod);
    const [isRepeated, earlier] = [created.has(key), created.get(key)];
    created.set(key, undefined);
    try {
      const { metadata } = await client.create(pods, pod, {
        fieldManager: FIELD_MANAGER,
        timeoutMs: WRITE_TIMEOUT_MS,
        signal,
      });
      created.set(key, metadata?.uid);
      return { kind: 'sent' };
    } catch (error) {
      if (!isKubeError(error) || error.happened === 'no') {
        if (isRepeated) created.set(key, earlier);
        else created.delete(key);
      }
      if (!isKubeError(error, 'AlreadyExists')) throw error;
      // Without a UID, the earlier response was lost: its pod is the one that has the name.
      const isOurs = (uid: string): boolean => isInherited(uid) || (isRepeated && (earlier ?? uid) === uid);
      return afterCollision(pod, isOurs, signal);
    }
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
    /** `isInherited`: by UID, whether the pull pod was there when this process began to lead. */
    async create(
      daemonSet: RequestingDaemonSet,
      request: ImageRequest,
      isInherited: (uid: string) => boolean,
      signal: AbortSignal,
    ): Promise<CreateOutcome> {
      try {
        const template = await templateOf(daemonSet, request.revision, signal);
        if (!template)
          return { kind: 'refused', cause: `DaemonSet ${daemonSet.name} has no revision ${request.revision}` };
        const other = request.runs === undefined ? undefined : await templateOf(daemonSet, request.runs, signal);
        const images = imagesBeyond(template, other);
        if (images.length === 0) return { kind: 'needless' };
        const names = images.map(({ image }) => image);
        const obstacle = restAfter(request, clock.now()) ?? shortageOf(request.node, names);
        if (obstacle !== undefined) return { kind: 'refused', cause: toCause(obstacle) };
        const pod = pullPodOf(daemonSet, request, template, images, suffixFor(daemonSet, request));
        return await createPod(pod, isInherited, signal);
      } catch (error) {
        signal.throwIfAborted();
        return outcomeOf(error);
      }
    },

    /** Whether this process created the pull pod: by its UID, because a name can be used again. */
    isOwn: ({ namespace, name, uid }: PullView): boolean => created.get(`${namespace}/${name}`) === uid,
    /** The watch shows a pull pod. The first one with the name of a creation without response is the one created. */
    seen({ namespace, name, uid }: PullView): void {
      const key = `${namespace}/${name}`;
      if (created.has(key) && created.get(key) === undefined) created.set(key, uid);
    },

    /**
     * Sets the condition of the requesting pod as it was when it asked: a later request must not be overwritten. False if
     * the pod has changed, or is gone.
     */
    async report(
      namespace: string,
      { podName, podUid, resourceVersion, revision, deletions }: ImageRequest,
      cause: string | undefined,
      now: number,
      signal: AbortSignal,
    ): Promise<boolean> {
      const outcome =
        cause === undefined ? { reason: 'PullImageSuccess' as const } : { reason: 'PullImageFail' as const, cause };
      const again = deletions && { deletions: deletions.count };
      const patch = imageReadyPatch({ uid: podUid, status: 'False' }, { ...outcome, revision, ...again }, now);
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
      try {
        await deletePod(pull, signal);
        cache.acceptDeletion(pull);
      } catch (error) {
        signal.throwIfAborted();
        // Another client has deleted it meanwhile.
        if (!cache.has(pull)) return;
        const now = clock.now();
        removeBackoff.failed(uid, now);
        const retryMs = removeBackoff.nextAttemptAt(uid, now) - now;
        log.warn('failed to delete a pull pod', { namespace, pod: name, error, retryMs });
      }
    },
    /** When the pull pod may be deleted; a time in the past for at once. */
    removableAt: (uid: string, now: number): number => removeBackoff.nextAttemptAt(uid, now),
    /** The cache no longer shows the pull pod. */
    forgetPod({ namespace, name, uid }: PullView): void {
      if (created.get(`${namespace}/${name}`) === uid) created.delete(`${namespace}/${name}`);
      removeBackoff.reset(uid);
    },
    /** The DaemonSet has no requests left. */
    forgetDaemonSet: (uid: string): boolean => templates.delete(uid),
  };
};
