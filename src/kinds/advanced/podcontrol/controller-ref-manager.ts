import { createInFlightWrites, type ReconcilerContext } from '../../../controller/index.ts';
import { ifFound, metadataOf, pagesOf, pods as podResource } from '../../../kube/index.ts';
import { controllerOf, formatSelector, matches, parseSelector, type Selector } from '../../../rollout/index.ts';
import { FIELD_MANAGER } from '../../../words/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { HASH_LABEL } from '../revisions/history.ts';
import type { CachedPod } from './cached-pod.ts';

const NEVER = Number.POSITIVE_INFINITY;
const TIMEOUT_MS = 10_000;
/** Bounds the candidates: replicas that don't lead collect them without releasing any. */
const MAX_CANDIDATES = 500;
const SEARCH = 'search';

const opposites: Partial<Record<Selector[number]['operator'], Selector[number]['operator']>> = {
  In: 'NotIn',
  NotIn: 'In',
  Exists: 'DoesNotExist',
  DoesNotExist: 'Exists',
};

/** Selectors that together match the pods which carry one of the hashes and don't match `podSelector`. */
export const releasableSelectors = (podSelector: string, hashes: readonly string[]): string[] => {
  const parsed = parseSelector(podSelector);
  if (!parsed.ok || hashes.length === 0) return [];
  const hasHash = { key: HASH_LABEL, operator: 'In', values: hashes.toSorted() } as const;
  return parsed.selector.flatMap((requirement) => {
    const operator = opposites[requirement.operator];
    return operator ? [formatSelector([hasHash, { ...requirement, operator }])] : [];
  });
};

type RefManagerContext = Pick<ReconcilerContext<AdvancedView, CachedPod>, 'client' | 'env' | 'revisions' | 'enqueue'>;

export interface ControllerRefManager {
  /** The cache no longer shows the pod. If it was not terminating, its labels may have changed. */
  podGone(cached: CachedPod): void;
  /** Starts the search and the releases. Returns when to call it again, epoch ms; Infinity for never. */
  release(view: AdvancedView): number;
  drain: (graceMs: number) => Promise<void>;
}

/**
 * Releases pods that the DaemonSet owns and its selector no longer matches, as the DaemonSet controller's controller
 * reference manager does. Adoption is part of the sync of a pod (sync-pod.ts).
 */
export const createControllerRefManager = ({
  client,
  env,
  revisions,
  enqueue,
}: RefManagerContext): ControllerRefManager => {
  const { clock, log } = env;
  /** By UID: names of pods to release if they are still owned. */
  const candidates = new Map<string, string>();
  let searched = false;
  const writes = createInFlightWrites({
    clock,
    limit: 4,
    onWriteDone: enqueue,
    failed: (key, error) => log.warn('failed to release pods that no longer match the selector', { key, error }),
  });

  const addCandidate = (uid: string, name: string): void => {
    const [oldest] = candidates.keys();
    if (candidates.size >= MAX_CANDIDATES && oldest !== undefined) candidates.delete(oldest);
    candidates.set(uid, name);
  };

  /** Finds pods that were relabeled while no manager ran: the watch never shows them, but they carry a revision's hash. */
  const search = async ({ namespace, podSelector, uid }: AdvancedView, signal: AbortSignal): Promise<void> => {
    const hashes = revisions().map(({ hash }) => hash);
    for (const labelSelector of releasableSelectors(podSelector, hashes)) {
      const query = { namespace, labelSelector, timeoutMs: TIMEOUT_MS, signal };
      for await (const { items } of pagesOf(client, metadataOf(podResource), query))
        for (const pod of items)
          if (controllerOf(pod)?.uid === uid && !pod.metadata?.deletionTimestamp)
            addCandidate(pod.metadata?.uid ?? '', pod.metadata?.name ?? '');
    }
    searched = true;
  };

  const read = (namespace: string, name: string, signal: AbortSignal) =>
    ifFound(client.get(podResource, { namespace, name }, { timeoutMs: TIMEOUT_MS, signal }));

  const release = async (
    { namespace, podSelector, uid }: AdvancedView,
    name: string,
    podUid: string,
    signal: AbortSignal,
  ): Promise<void> => {
    const pod = await read(namespace, name, signal);
    const { metadata = {} } = pod ?? {};
    const selector = parseSelector(podSelector);
    if (!pod || metadata.uid !== podUid || controllerOf(pod)?.uid !== uid || metadata.deletionTimestamp) return;
    // Its labels were restored, or a watch failure made it look gone.
    if (selector.ok && matches(selector.selector, metadata.labels ?? {})) return;
    const ownerReferences = metadata.ownerReferences?.filter((owner) => owner.uid !== uid) ?? [];
    const { resourceVersion } = metadata;
    const patched = await ifFound(
      client.patch(
        podResource,
        { namespace, name },
        { metadata: { uid: podUid, resourceVersion, ownerReferences } },
        { type: 'merge', fieldManager: FIELD_MANAGER, timeoutMs: TIMEOUT_MS, signal },
      ),
    );
    if (patched) log.info('released a pod that no longer matches the selector', { pod: name });
  };

  const start = (key: string, work: (signal: AbortSignal) => Promise<void>): number =>
    writes.start(key, async (signal) => {
      try {
        await work(signal);
        return 'succeeded';
      } catch (error) {
        // Aborted on shutdown: the next leader searches again.
        if (signal.aborted) return 'unchanged';
        throw error;
      }
    });

  return {
    podGone({ ownership, facts }) {
      if (ownership === 'ours' && !facts.terminating) addCandidate(facts.uid, facts.name);
    },
    release(view) {
      let nextAt = searched ? NEVER : start(SEARCH, (signal) => search(view, signal));
      for (const [uid, name] of candidates) {
        const retryAt = start(uid, async (signal) => {
          await release(view, name, uid, signal);
          candidates.delete(uid);
        });
        nextAt = Math.min(nextAt, retryAt);
      }
      return nextAt;
    },
    drain: (graceMs) => writes.drain(graceMs),
  };
};
