import type { ReflectorHandler } from '../kube/index.ts';
import type { ImageRequest, ImageRequests, PodFacts, RequestingDaemonSet } from '../rollout/index.ts';
import type { DaemonSetView } from './kind.ts';

export interface AskedImagesOptions {
  /** Undefined: nobody pulls images here. */
  requests: ImageRequests | undefined;
  /** The DaemonSet as it is now. */
  view: () => DaemonSetView;
}

/**
 * Tells whoever pulls images what the pods of one DaemonSet ask for, from the watch that is kept of them anyway. Only
 * what stands is kept here: a DaemonSet whose pods ask for nothing costs an empty map.
 */
export const createAskedImages = ({ requests, view }: AskedImagesOptions) => {
  const asked = new Map<string, ImageRequest>();
  let filled = false;
  let closed = false;

  const daemonSet = (): RequestingDaemonSet => {
    const { namespace, name, uid, policy } = view();
    return { namespace, name, uid, pullTimeoutMs: policy.policy.predownloadTimeoutMs };
  };

  const tell = (): void => {
    if (!requests || !filled || closed) return;
    const { policy } = view();
    const served = policy.kind === 'on' && policy.policy.strategy === 'ota';
    requests.update(daemonSet(), served ? asked : new Map());
  };

  const note = ({ uid, name, node, resourceVersion, asks }: PodFacts, gone: boolean): void => {
    const before = asked.delete(uid);
    if (asks && !gone) asked.set(uid, { podUid: uid, podName: name, node, resourceVersion, ...asks });
    if (before || asked.has(uid)) tell();
  };

  const handler: ReflectorHandler<PodFacts> = {
    upsert: (_key, pod) => note(pod, false),
    remove: (_key, pod) => note(pod, true),
    synced() {
      filled = true;
      tell();
    },
  };

  return {
    handler,
    /** The DaemonSet has changed: it may have left the OTA mode, or pulls may take longer. */
    refresh: tell,
    /** It is served no more: nothing is told from here on, since another session may serve it by then. */
    close(): void {
      if (requests && filled && !closed) requests.update(daemonSet(), undefined);
      closed = true;
    },
  };
};
export type AskedImages = ReturnType<typeof createAskedImages>;
