import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { ApiServer } from '../../../embedded/index.ts';
import { daemonSets, namespaces, pods } from '../../../src/kube/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';

const NAMESPACE = 'tenant';
/** How often the neighbour touches all its objects, and after which time. */
const ROUNDS = 5;
const ROUND_MS = 1_000;
/** As in the largest objects: most of it is one annotation. */
const LARGE_BYTES = 200_000;

/** Another tenant of the cluster: its DaemonSets are large and opted in, and its pods claim to be those of others. */
export const createNeighbour = (apiServer: ApiServer, time: Clock) => {
  let made = 0;

  const create = (name: string): void =>
    void apiServer.create(daemonSets, {
      metadata: {
        namespace: NAMESPACE,
        name,
        annotations: { 'apps.openyurt.io/update-strategy': 'auto', ballast: 'x'.repeat(LARGE_BYTES) },
      },
      spec: {
        selector: { matchLabels: { app: name } },
        updateStrategy: { type: 'OnDelete' },
        template: {
          metadata: { labels: { app: name } },
          spec: { nodeSelector: { role: 'none' }, containers: [{ name: 'app', image: 'tenant:v1' }] },
        },
      },
    });
  /** With the name, the labels and the owner of a pod of the default namespace. */
  const forge = ({ metadata, spec }: Pod): void => {
    const { name = '', labels = {}, ownerReferences = [] } = metadata ?? {};
    if (apiServer.find(pods, { namespace: NAMESPACE, name })) return;
    apiServer.create(pods, {
      metadata: { namespace: NAMESPACE, name, labels, ownerReferences, finalizers: ['example.com/stays'] },
      spec: { ...(spec?.nodeName && { nodeName: spec.nodeName }), containers: [{ name: 'app', image: 'tenant:v1' }] },
    });
  };

  return {
    /** Returns whether it made anything. */
    move(count: number): boolean {
      if (!apiServer.find(namespaces, { name: NAMESPACE }))
        apiServer.create(namespaces, { metadata: { name: NAMESPACE } });
      const names = Array.from({ length: count }, (_, index) => `tenant-${made + index}`);
      made += count;
      for (const name of names) create(name);
      const known = apiServer.list<Pod>(pods).filter(({ metadata }) => metadata?.namespace === 'default');
      for (const pod of known.slice(0, count)) forge(pod);
      for (let round = 1; round <= ROUNDS; round += 1)
        time.timer(round * ROUND_MS, () => {
          for (const name of names)
            if (apiServer.find(daemonSets, { namespace: NAMESPACE, name }))
              apiServer.patch(
                daemonSets,
                { namespace: NAMESPACE, name },
                { metadata: { annotations: { touched: String(round) } } },
                { type: 'merge' },
              );
        });
      return names.length > 0;
    },
    leave(): void {
      for (const { metadata } of apiServer.list<Pod>(pods, { namespace: NAMESPACE })) {
        const ref = { namespace: NAMESPACE, name: metadata?.name ?? '' };
        apiServer.patch(pods, ref, { metadata: { finalizers: null } }, { type: 'merge' });
        if (apiServer.find(pods, ref)) apiServer.delete(pods, ref, { gracePeriodSeconds: 0 });
      }
    },
  };
};
export type Neighbour = ReturnType<typeof createNeighbour>;
