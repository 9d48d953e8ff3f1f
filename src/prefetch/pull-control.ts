import type { Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { controllerRevisions, isKubeError, type KubeClient, type KubeErrorCode, pods } from '../kube/index.ts';
import {
  controllerOf,
  type ImageRequest,
  imageReadyPatch,
  type RequestingDaemonSet,
  recordedTemplate,
} from '../rollout/index.ts';
import { imagesBeyond } from './images.ts';
import { pullPodOf } from './pull-pod.ts';
import { type PullView, shorten } from './pull-status.ts';

/** A request that got no answer is not waited for longer. */
const WRITE_TIMEOUT_MS = 10_000;
const FIELD_MANAGER = 'edgeset-manager';

export type CreateOutcome =
  /** It is there, or may be. */
  | { kind: 'sent' }
  /** There will be none: what the target needs is on the node as it is. */
  | { kind: 'needless' }
  /** There will be none, for a reason that somebody must mend. */
  | { kind: 'refused'; cause: string }
  /** The API server cannot be asked just now. */
  | { kind: 'later'; afterMs: number };

const LATER_MS = 2_000;
/** Pods of more revisions at once are rare: what was forgotten is read again. */
const MOST_TEMPLATES = 4;

const hasContainers = (template: object | undefined): template is { spec: PodSpec } => {
  const { spec } = (template ?? {}) as { spec?: { containers?: unknown } };
  return Array.isArray(spec?.containers) && spec.containers.length > 0;
};

/** Of a quota or Pod Security (Forbidden), an admission webhook (BadRequest, Unknown), a namespace that ends (NotFound). */
const REFUSALS: ReadonlySet<KubeErrorCode> = new Set(['Forbidden', 'Invalid', 'BadRequest', 'NotFound', 'Unknown']);

const outcomeOf = (error: unknown): CreateOutcome => {
  if (!isKubeError(error)) throw error;
  const { code, happened, message, retryAfterSeconds = 0 } = error;
  if (code === 'AlreadyExists' || happened === 'unknown') return { kind: 'sent' };
  return REFUSALS.has(code)
    ? { kind: 'refused', cause: shorten(`no pull pod can be created: ${message}`) }
    : { kind: 'later', afterMs: Math.max(LATER_MS, retryAfterSeconds * 1000) };
};

/** What is written to the cluster, and what is read to write it. */
export const createPullControl = (client: KubeClient) => {
  /** The last templates of each DaemonSet: its pods ask for the same ones, nearly at the same time. */
  const templates = new Map<string, Map<string, PodSpec | undefined>>();

  const templateOf = async (
    { namespace, uid }: RequestingDaemonSet,
    revision: string,
    signal: AbortSignal,
  ): Promise<PodSpec | undefined> => {
    const known = templates.get(uid);
    if (known?.has(revision)) return known.get(revision);
    const labelSelector = `controller-revision-hash=${revision}`;
    const { items } = await client.list(controllerRevisions, { namespace, labelSelector, signal });
    // The condition names a hash, which anybody may have written: only the DaemonSet's own revisions count.
    const own = items.find((item) => controllerOf(item)?.uid === uid);
    const template = own && recordedTemplate(own);
    const spec = hasContainers(template) ? template.spec : undefined;
    const kept = known && known.size < MOST_TEMPLATES ? known : new Map<string, PodSpec | undefined>();
    if (spec) templates.set(uid, kept.set(revision, spec));
    return spec;
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
     * Sets the one condition, of the pod as it was when it asked: had it asked for something else since, that request
     * would be overwritten. False when it has changed, or is gone.
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
      const how = { type: 'strategic', subresource: 'status', fieldManager: FIELD_MANAGER } as const;
      try {
        await client.patch(pods, { namespace, name: podName }, body, { ...how, timeoutMs: WRITE_TIMEOUT_MS, signal });
        return true;
      } catch (error) {
        if (isKubeError(error, 'Conflict', 'NotFound')) return false;
        throw error;
      }
    },

    /**
     * At once, also where its node cannot be asked: nothing runs in it, and a kubelet that comes back drops what the API
     * server does not know.
     */
    async remove({ namespace, name, uid }: PullView, signal: AbortSignal): Promise<void> {
      try {
        const how = { preconditions: { uid }, gracePeriodSeconds: 0, timeoutMs: WRITE_TIMEOUT_MS, signal };
        await client.delete(pods, { namespace, name }, how);
      } catch (error) {
        // A conflict need not mean that another pod has the name by now: where it does, the watch says so.
        if (!isKubeError(error, 'NotFound')) throw error;
      }
    },

    /** The DaemonSet asks for nothing any more. */
    forget: (daemonSetUid: string): boolean => templates.delete(daemonSetUid),
  };
};
export type PullControl = ReturnType<typeof createPullControl>;
