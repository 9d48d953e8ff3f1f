import type { KubeClient } from '../kube/index.ts';
import { createPrefetch } from '../prefetch/index.ts';
import type { RequestingDaemonSet } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import type { ImageService, ImageSource } from './types.ts';

export interface ImageServiceOptions {
  client: KubeClient;
  env: Env;
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  /** `--predownload`: prefetch images also where no annotation requests it. */
  pullsByDefault: boolean;
  /** All controllers have synced. */
  complete: () => boolean;
}

/** The image prefetch, shared by all controllers: it serves their requests and removes pull pods without a request. */
export const createImageService = (options: ImageServiceOptions): ImageService => {
  const { client, env, namespaces, pullsByDefault, complete } = options;
  const joined = new Set<ImageSource>();
  const prefetch = createPrefetch({
    client,
    env,
    namespaces,
    cluster: {
      node: (name) =>
        joined
          .values()
          .map((one) => one.node(name))
          .find((node) => node !== undefined),
      serves: (uid) => joined.values().some((one) => one.serves(uid)),
      complete,
    },
  });

  return {
    join(source) {
      const requesting = new Map<string, RequestingDaemonSet>();
      joined.add(source);
      return {
        options: {
          images: {
            update(daemonSet, requests) {
              if (requests) requesting.set(daemonSet.uid, daemonSet);
              else requesting.delete(daemonSet.uid);
              prefetch.requests.update(daemonSet, requests);
            },
          },
          pullsByDefault,
        },
        leave() {
          joined.delete(source);
          for (const daemonSet of requesting.values()) prefetch.requests.update(daemonSet, undefined);
        },
      };
    },
    controller: {
      run: (signal) => prefetch.run(signal),
      lead: (signal) => prefetch.lead(signal),
      synced: () => true,
      rollouts: () => [],
    },
  };
};
