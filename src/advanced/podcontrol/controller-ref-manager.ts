import { createAir, createPacing, FIELD_MANAGER, type ReconcilerContext } from '../../controller/index.ts';
import { isKubeError, pods as podResource } from '../../kube/index.ts';
import { controllerOf, formatSelector, matches, parseSelector, type Selector } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { HASH_LABEL } from '../revisions/history.ts';
import type { CachedPod } from './cached-pod.ts';

type Needs = Pick<ReconcilerContext<AdvancedView, CachedPod>, 'client' | 'env' | 'revisions' | 'enqueue'>;

const NEVER = Number.POSITIVE_INFINITY;
const TIMEOUT_MS = 10_000;
/** Replicas that do not lead release nobody: what they note is bounded. */
const MOST_NOTED = 500;
const SEARCH = 'search';

const opposites: Partial<Record<Selector[number]['operator'], Selector[number]['operator']>> = {
  In: 'NotIn',
  NotIn: 'In',
  Exists: 'DoesNotExist',
  DoesNotExist: 'Exists',
};

/** Selectors that together match the pods which carry one of the hashes and which the selector does not match. */
export const releasableSelectors = (podSelector: string, hashes: readonly string[]): string[] => {
  const parsed = parseSelector(podSelector);
  if (!parsed.ok || hashes.length === 0) return [];
  const carried = { key: HASH_LABEL, operator: 'In', values: hashes.toSorted() } as const;
  return parsed.selector.flatMap((requirement) => {
    const operator = opposites[requirement.operator];
    return operator ? [formatSelector([carried, { ...requirement, operator }])] : [];
  });
};

/** Lets pods go that the DaemonSet owns and that its selector matches no more: relabelled while we watch, or before. */
export const createControllerRefManager = ({ client, env, revisions, enqueue }: Needs) => {
  const { clock, log } = env;
  /** By UID: their names. */
  const strays = new Map<string, string>();
  let searched = false;
  const pacing = createPacing();
  const air = createAir({
    clock,
    most: 4,
    ended: enqueue,
    failed(key, error) {
      log.warn('pods that the selector matches no more could not be looked after', { key, error });
      pacing.failed(key, clock.now());
    },
  });

  const note = (uid: string, name: string): void => {
    const [eldest] = strays.keys();
    if (strays.size >= MOST_NOTED && eldest !== undefined) strays.delete(eldest);
    strays.set(uid, name);
  };

  /** No watch of ours ever showed those that were relabelled before: they are found by the revisions that they carry. */
  const search = async ({ namespace, podSelector, uid }: AdvancedView, signal: AbortSignal): Promise<void> => {
    const hashes = revisions().map(({ hash }) => hash);
    for (const labelSelector of releasableSelectors(podSelector, hashes)) {
      const { items } = await client.list(podResource, { namespace, labelSelector, timeoutMs: TIMEOUT_MS, signal });
      for (const pod of items)
        if (controllerOf(pod)?.uid === uid && !pod.metadata?.deletionTimestamp)
          note(pod.metadata?.uid ?? '', pod.metadata?.name ?? '');
    }
    searched = true;
  };

  const release = async (
    { namespace, podSelector, uid }: AdvancedView,
    name: string,
    podUid: string,
    signal: AbortSignal,
  ): Promise<void> => {
    try {
      const pod = await client.get(podResource, { namespace, name }, { timeoutMs: TIMEOUT_MS, signal });
      const { metadata = {} } = pod;
      const selector = parseSelector(podSelector);
      if (metadata.uid !== podUid || controllerOf(pod)?.uid !== uid || metadata.deletionTimestamp) return;
      // It has its labels again, or a broken watch made it look gone.
      if (selector.ok && matches(selector.selector, metadata.labels ?? {})) return;
      const ownerReferences = metadata.ownerReferences?.filter((owner) => owner.uid !== uid) ?? [];
      const { resourceVersion } = metadata;
      await client.patch(
        podResource,
        { namespace, name },
        { metadata: { uid: podUid, resourceVersion, ownerReferences } },
        { type: 'merge', fieldManager: FIELD_MANAGER, timeoutMs: TIMEOUT_MS, signal },
      );
      log.info('a pod whose labels the selector does not match any more was released', { pod: name });
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
    }
  };

  const launch = (key: string, now: number, work: (signal: AbortSignal) => Promise<void>): number => {
    const turn = pacing.until(key, now);
    if (turn > now) return turn;
    air.launch(key, async (signal) => {
      try {
        await work(signal);
        pacing.succeeded(key);
      } catch (error) {
        // Given up because we write no more: whoever comes next finds out.
        if (!signal.aborted) throw error;
      }
    });
    return NEVER;
  };

  return {
    /** The watch shows the pod no more. One that was not ending may have got other labels. */
    podGone({ ownership, facts }: CachedPod): void {
      if (ownership === 'ours' && !facts.terminating) note(facts.uid, facts.name);
    },
    /** When to be called again, epoch ms; Infinity for never. */
    release(view: AdvancedView): number {
      const now = clock.now();
      let nextAt = searched ? NEVER : launch(SEARCH, now, (signal) => search(view, signal));
      for (const [uid, name] of strays)
        nextAt = Math.min(
          nextAt,
          launch(uid, now, async (signal) => {
            await release(view, name, uid, signal);
            strays.delete(uid);
          }),
        );
      return nextAt;
    },
    stop: (graceMs: number): Promise<void> => air.stop(graceMs),
  };
};
export type ControllerRefManager = ReturnType<typeof createControllerRefManager>;
