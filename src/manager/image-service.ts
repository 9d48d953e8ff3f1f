import type { ControllerOptions, Controller as KindController } from '../controller/index.ts';
import type { KubeClient } from '../kube/index.ts';
import { createImageAgents, createPrefetch } from '../prefetch/index.ts';
import type { RequestingDaemonSet } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import type { Controller } from './types.ts';

export interface ImageServiceOptions {
  client: KubeClient;
  env: Env;
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  /** Images are pulled ahead also where no annotation says so: `--predownload`. */
  pullsByDefault: boolean;
  /** All controllers know what they serve. */
  complete: () => boolean;
}

/** What one controller knows. */
export type Knowing = Pick<KindController, 'nodeReady' | 'serves'>;

/** What one controller is given. */
export interface ImageClient {
  options: Pick<ControllerOptions, 'images' | 'pullsByDefault' | 'agents'>;
  /** It serves nothing any more. */
  leave(): void;
}

/** Images pulled ahead, for all controllers together: of what they ask, and of pull pods that nobody asks for. */
export const createImageService = (options: ImageServiceOptions) => {
  const { client, env, namespaces, pullsByDefault, complete } = options;
  const joined = new Set<Knowing>();
  const agents = createImageAgents({ client, env, namespaces });
  const prefetch = createPrefetch({
    client,
    env,
    namespaces,
    cluster: {
      nodeReady: (node) => joined.values().some((one) => one.nodeReady(node)),
      serves: (uid) => joined.values().some((one) => one.serves(uid)),
      complete,
    },
  });

  return {
    join(knowing: Knowing): ImageClient {
      const asking = new Map<string, RequestingDaemonSet>();
      joined.add(knowing);
      return {
        options: {
          images: {
            update(daemonSet, requests) {
              if (requests) asking.set(daemonSet.uid, daemonSet);
              else asking.delete(daemonSet.uid);
              prefetch.requests.update(daemonSet, requests);
            },
          },
          pullsByDefault,
          agents,
        },
        leave() {
          joined.delete(knowing);
          for (const daemonSet of asking.values()) prefetch.requests.update(daemonSet, undefined);
        },
      };
    },
    /** Runs beside the controllers. */
    controller: {
      run: async (signal) => void (await Promise.all([agents.run(signal), prefetch.run(signal)])),
      lead: (signal) => prefetch.lead(signal),
      synced: agents.isSettled,
      rollouts: () => [],
    } satisfies Controller,
  };
};
export type ImageService = ReturnType<typeof createImageService>;
