import type { DaemonRollout } from '../../../src/words/index.ts';
import type { Cluster } from '../cluster.ts';
import { openApi } from '../kit/api.ts';
import { type MetricsServer, sample, startMetricsServer } from '../kit/metrics-server.ts';
import { daemonSetOf } from '../kit/objects.ts';
import { until } from '../kit/until.ts';

const NAMESPACE = 'shop';
const DAEMONSETS = ['web', 'app', 'driver'];
const IMAGE = 'example.com/shop:1';

/** The namespace of the pages about rollout plans: DaemonSets that are rolled out, on nodes with the labels of their plans. */
export const openShop = async ({ kubeconfig }: Cluster): Promise<void> => {
  const api = await openApi(kubeconfig);
  try {
    await api.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    for (const [index, ring] of ['canary', 'lab', undefined].entries()) {
      const shop = index < 2 ? 'lyon' : 'nice';
      const labels = {
        'example.com/shop': shop,
        'topology.kubernetes.io/zone': `zone-of-${shop}`,
        ...(ring !== undefined && { ring }),
      };
      await api.merge(`/api/v1/nodes/node-${index + 1}`, { metadata: { labels } });
    }
    for (const name of DAEMONSETS)
      await api.create(
        `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`,
        daemonSetOf(NAMESPACE, {
          name,
          image: IMAGE,
          annotations: { 'apps.openyurt.io/max-unavailable': '100%' },
          podSpec: { nodeSelector: {}, containers: [{ name, image: IMAGE }] },
        }),
      );
    const path = `/apis/edgeset.io/v1alpha1/namespaces/${NAMESPACE}/daemonrollouts`;
    for (const name of DAEMONSETS)
      await until(`${name} is rolled out`, async () => {
        const { status } = (await api.find<DaemonRollout>(`${path}/${name}`)) ?? {};
        return status?.nodes?.updated === 3 && status.lastComplete;
      });
  } finally {
    await api.close();
  }
};

/** Few requests to the first revision that it is asked about fail, many to any other. */
export const openShopPrometheus = async (): Promise<MetricsServer> => {
  const server = await startMetricsServer((_, response) => {
    const { requests } = server;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(sample(requests.at(-1)?.query === requests[0]?.query ? '0.01' : '0.4'));
  });
  return server;
};
