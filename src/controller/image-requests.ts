import type { ReflectorHandler } from '../kube/index.ts';
import {
  type ImageRequest,
  type ImageRequests,
  isRequestedByOwner,
  type Ledger,
  openImageRequest,
  type PodFacts,
  type RequestingDaemonSet,
} from '../rollout/index.ts';
import type { DaemonSetView } from './kind.ts';

export interface ImageRequestTrackerOptions {
  /** Undefined: nobody pulls images here. */
  requests: ImageRequests | undefined;
  /** The DaemonSet as it is now. */
  view: () => DaemonSetView;
  ledger: Pick<Ledger, 'get' | 'state' | 'imageParallelism'>;
}

/**
 * Tells whoever pulls images what the pods of one DaemonSet ask for, from the watch that is kept of them anyway. Only
 * what stands is kept here: a DaemonSet whose pods ask for nothing costs two empty maps.
 */
export const createImageRequestTracker = ({ requests, view, ledger }: ImageRequestTrackerOptions) => {
  /** Pods with a request, whatever it is worth now. */
  const open = new Map<string, PodFacts>();
  const asked = new Map<string, ImageRequest>();
  let filled = false;
  let closed = false;
  let told = '';

  const daemonSet = (): RequestingDaemonSet => {
    const { namespace, name, uid, policy } = view();
    const parallelism = ledger.imageParallelism();
    return { namespace, name, uid, pullTimeoutMs: policy.policy.predownloadTimeoutMs, parallelism };
  };

  /** The request of a pod, if anybody is to answer it: its owner's, else ours, and then for the target alone. */
  const requestOf = (pod: PodFacts): ImageRequest | undefined => {
    const { policy } = view();
    const wish = openImageRequest(pod);
    if (policy.kind !== 'on' || !wish) return undefined;
    const { uid: podUid, name: podName, node, resourceVersion, revision: runs } = pod;
    const request = { podUid, podName, node, resourceVersion, ...wish };
    if (policy.policy.strategy === 'ota') return isRequestedByOwner(pod, wish.revision) ? request : undefined;
    const { target, halted } = ledger.state;
    const record = ledger.get(node);
    if (halted || wish.revision !== target?.hash || runs === target.hash || !record?.status.images.pullPodAllowed)
      return undefined;
    return { ...request, runs, ...(record.node?.hasImageAgent && { byAgent: true as const }) };
  };

  const tell = (): void => {
    const { policy } = view();
    // What stands is not known before: what an earlier leader has begun would be given up.
    const unknown = policy.kind === 'on' && policy.policy.strategy !== 'ota' && ledger.state.target === undefined;
    if (requests && filled && !closed && !unknown) requests.update(daemonSet(), asked);
  };

  /** What all of them are judged by. */
  const key = (): string => {
    const { target, halted } = ledger.state;
    return `${target?.hash} ${halted !== undefined} ${ledger.imageParallelism()}`;
  };

  const refresh = (): void => {
    told = key();
    asked.clear();
    for (const [uid, pod] of open) {
      const request = requestOf(pod);
      if (request) asked.set(uid, request);
    }
    tell();
  };

  const note = (pod: PodFacts, gone: boolean): void => {
    const { uid } = pod;
    if (openImageRequest(pod) && !gone) open.set(uid, pod);
    else open.delete(uid);
    const before = asked.delete(uid);
    const request = open.has(uid) ? requestOf(pod) : undefined;
    if (request) asked.set(uid, request);
    if (before || request) tell();
  };

  const handler: ReflectorHandler<PodFacts> = {
    upsert: (_key, pod) => note(pod, false),
    remove: (_key, pod) => note(pod, true),
    synced() {
      filled = true;
      refresh();
    },
  };

  return {
    handler,
    /** The DaemonSet has changed: others may decide now, or pulls may take longer. */
    refresh,
    /** The rollout may have changed: looks whether what is asked for stands. */
    review(): void {
      if (told !== key()) refresh();
    },
    /** It is served no more: nothing is told from here on, since another session may serve it by then. */
    close(): void {
      if (requests && filled && !closed) requests.update(daemonSet(), undefined);
      closed = true;
    },
  };
};
export type ImageRequestTracker = ReturnType<typeof createImageRequestTracker>;
