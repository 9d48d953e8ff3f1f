import {
  type ImageRequest,
  type ImageRequests,
  isRequestedByOwner,
  type Ledger,
  openImageRequest,
  type PodFacts,
  type RequestingDaemonSet,
} from '../../rollout/index.ts';
import type { DaemonSetView } from '../kind.ts';

export interface ImageRequestTrackerOptions {
  /** Undefined: nothing pulls images ahead. */
  requests: ImageRequests | undefined;
  /** The DaemonSet as it is now. */
  view: () => DaemonSetView;
  ledger: Pick<Ledger, 'get' | 'state' | 'imageParallelism'>;
}

/**
 * Reports which images the pods of one DaemonSet request, from the watch of its pods. Only open requests are kept: a
 * DaemonSet without requests costs two empty maps.
 */
export interface ImageRequestTracker {
  setPod(pod: PodFacts): void;
  removePod(pod: PodFacts): void;
  /** All pods have been set. */
  podsSynced(): void;
  /** The DaemonSet has changed: the strategy may be another one, or pulls may take longer. */
  refresh(): void;
  /** Evaluates the requests again if the rollout has changed. */
  refreshIfChanged(): void;
  /** The DaemonSet is no longer managed: reports nothing further, since another reconciler may manage it by then. */
  close(): void;
}

export const createImageRequestTracker = ({
  requests,
  view,
  ledger,
}: ImageRequestTrackerOptions): ImageRequestTracker => {
  /** Pods with a request in their condition, by UID, whether it is valid now or not. */
  const open = new Map<string, PodFacts>();
  const valid = new Map<string, ImageRequest>();
  let synced = false;
  let closed = false;
  let judgedBy = '';

  const daemonSet = (): RequestingDaemonSet => {
    const { namespace, name, uid, policy } = view();
    const parallelism = ledger.imageParallelism();
    return { namespace, name, uid, pullTimeoutMs: policy.policy.predownloadTimeoutMs, parallelism };
  };

  /** The pod's request, if it needs an answer: the one of its owner, or ours for the target. */
  const requestOf = (pod: PodFacts): ImageRequest | undefined => {
    const { policy } = view();
    const requested = openImageRequest(pod);
    if (policy.kind !== 'on' || !requested) return undefined;
    const { uid: podUid, name: podName, node, resourceVersion, revision: runs } = pod;
    const request = { podUid, podName, node, resourceVersion, ...requested };
    if (policy.policy.strategy === 'ota') return isRequestedByOwner(pod, requested.revision) ? request : undefined;
    const { target, halted } = ledger.state;
    const isAllowed = ledger.get(node)?.status.images.pullPodAllowed;
    if (halted || requested.revision !== target?.hash || runs === target.hash || !isAllowed) return undefined;
    return { ...request, runs };
  };

  const report = (): void => {
    const { policy } = view();
    // Until the target is known, no request is valid: reporting that would abandon what an earlier leader has started.
    const unknown = policy.kind === 'on' && policy.policy.strategy !== 'ota' && ledger.state.target === undefined;
    if (requests && synced && !closed && !unknown) requests.update(daemonSet(), valid);
  };

  /** What decides on all requests alike. */
  const criteria = (): string => {
    const { target, halted } = ledger.state;
    return `${target?.hash} ${halted !== undefined} ${ledger.imageParallelism()}`;
  };

  const refresh = (): void => {
    judgedBy = criteria();
    valid.clear();
    for (const [uid, pod] of open) {
      const request = requestOf(pod);
      if (request) valid.set(uid, request);
    }
    report();
  };

  const update = (pod: PodFacts, isOpen: boolean): void => {
    const { uid } = pod;
    if (isOpen) open.set(uid, pod);
    else open.delete(uid);
    const before = valid.delete(uid);
    const request = isOpen ? requestOf(pod) : undefined;
    if (request) valid.set(uid, request);
    if (before || request) report();
  };

  return {
    setPod: (pod) => update(pod, openImageRequest(pod) !== undefined),
    removePod: (pod) => update(pod, false),
    podsSynced() {
      synced = true;
      refresh();
    },
    refresh,
    refreshIfChanged() {
      if (judgedBy !== criteria()) refresh();
    },
    close() {
      if (requests && synced && !closed) requests.update(daemonSet(), undefined);
      closed = true;
    },
  };
};
