import { daemonRollouts } from '../../../src/controller/index.ts';
import type { Cluster } from '../cluster.ts';
import { until } from '../kit/until.ts';
import { applyWith } from './shell.ts';

const daemonSet = (name: string, apiVersion: string, image: string) => {
  const isNative = apiVersion === 'apps/v1';
  return {
    apiVersion,
    kind: 'DaemonSet',
    metadata: { name, ...(isNative && { annotations: { 'apps.openyurt.io/update-strategy': 'auto' } }) },
    spec: {
      selector: { matchLabels: { app: name } },
      ...(isNative && { updateStrategy: { type: 'OnDelete' } }),
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image }] } },
    },
  };
};

/**
 * A cluster whose manager is gone. It has rolled out `ds/web` and `ads/cache`; the template of `ds/web` has changed twice since.
 */
export const leaveWithoutManager = async (cluster: Cluster): Promise<void> => {
  const apply = (object: object): Promise<void> => applyWith(cluster.kubeconfig, object);
  const manager = await cluster.startManager({ namespace: 'default', args: ['--leader-elect=false'] });
  await apply(daemonSet('web', 'apps/v1', 'nginx:1.19.4'));
  await apply(daemonSet('cache', 'apps.kruise.io/v1beta1', 'redis:7.0'));
  await until('both are rolled out', async () => {
    const { items } = await cluster.client.list(daemonRollouts, { namespace: 'default' });
    const complete = items.filter(({ status }) =>
      status?.conditions?.some((condition) => condition.type === 'Complete' && condition.status === 'True'),
    );
    return complete.length === 2;
  });
  await manager.stop();
  for (const image of ['nginx:1.19.5', 'nginx:1.19.6']) await apply(daemonSet('web', 'apps/v1', image));
};
