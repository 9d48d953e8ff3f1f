import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { type KubeClient, pods } from '../../src/kube/index.ts';
import { steadyClock } from '../../src/runtime/index.ts';

/** A pod that is ready and is not about to go gets requests. */
const serves = (pod: Pod): boolean =>
  pod.metadata?.deletionTimestamp === undefined &&
  (pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false);

/** Follows the pods of a namespace with label `app: NAME`, to tell how long each node had none that serves. */
export const startTimeline = (client: KubeClient, namespace: string, name: string) => {
  const stop = new AbortController();
  const known = new Map<string, Pod>();
  /** Since when a node has no pod that serves. */
  const downSince = new Map<string, number>();
  const downMs = new Map<string, number>();
  const heard = new Set<string>();
  let mostDown = 0;
  const nodeOf = (pod: Pod): string => pod.spec?.nodeName ?? '';

  const judge = (node: string): void => {
    heard.add(node);
    const isUp = [...known.values()].some((pod) => nodeOf(pod) === node && serves(pod));
    const since = downSince.get(node);
    if (!isUp && since === undefined) downSince.set(node, steadyClock.now());
    mostDown = Math.max(mostDown, downSince.size);
    if (!isUp || since === undefined) return;
    downSince.delete(node);
    downMs.set(node, (downMs.get(node) ?? 0) + steadyClock.now() - since);
  };

  const follow = async (): Promise<void> => {
    const options = { namespace, labelSelector: `app=${name}`, sendInitialEvents: true, signal: stop.signal };
    for await (const event of client.watch(pods, options)) {
      if (event.type === 'BOOKMARK') continue;
      const pod = event.object;
      const uid = pod.metadata?.uid ?? '';
      if (event.type === 'DELETED') known.delete(uid);
      else known.set(uid, pod);
      if (nodeOf(pod)) judge(nodeOf(pod));
    }
  };
  let broken: unknown;
  const followed = follow().catch((error: unknown) => {
    if (!stop.signal.aborted) broken = error;
  });

  return {
    /** Forgets what was, such as the first start of the pods. */
    reset(): void {
      downMs.clear();
      mostDown = downSince.size;
    },
    /** Whether each of the nodes has a pod that serves, as far as it has heard. */
    allServe: (nodes: readonly string[]) => nodes.every((node) => heard.has(node) && !downSince.has(node)),
    /** For each node that had no pod that serves, for how many milliseconds in all. */
    downtimes: (): ReadonlyMap<string, number> => downMs,
    /** How many nodes had none at the same time. */
    mostDown: () => mostDown,
    async stop() {
      stop.abort();
      await followed;
      if (broken !== undefined) throw new Error('the watch of pods broke', { cause: broken });
    },
  };
};
export type Timeline = ReturnType<typeof startTimeline>;
