import assert from 'node:assert/strict';
import { nginxManifest, section, workers } from '../kit/index.ts';

const [worker, worker2, worker3] = workers;

export const walkthrough = section('The walkthrough of OpenYurt', (rule) => {
  rule(
    'two nodes are offline, the third is updated, and the two follow when they are back',
    async (c) => {
      const images = async (): Promise<Record<string, string>> => {
        const path = `/api/v1/namespaces/${c.namespace}/pods`;
        const { items } = await c.api.get<{ items: { spec: { nodeName: string; containers: { image: string }[] } }[] }>(
          path,
        );
        const ours = items.filter(({ spec }) => c.nodes.includes(spec.nodeName));
        return Object.fromEntries(ours.map(({ spec }) => [spec.nodeName, spec.containers[0]?.image ?? '']));
      };
      const ready = (count: number) =>
        c.until(`${count} pods are ready`, async () => {
          const text = await c.kubectl(['get', 'daemonset', 'nginx-daemonset', '-o', 'jsonpath={.status.numberReady}']);
          return Number(text) >= count;
        });

      await c.kubectl(['apply', '-f', '-'], nginxManifest('auto', 'nginx:1.19.4'));
      await ready(3);
      await c.cluster.offline([worker2, worker3]);
      const before = await c.kubectl(['get', 'pods', '-o', 'name', `--field-selector=spec.nodeName!=${worker}`]);

      await c.kubectl(['apply', '-f', '-'], nginxManifest('auto', 'nginx:1.19.5'));
      await c.until('the reachable node is updated', async () => (await images())[worker] === 'nginx:1.19.5');
      await c.expectNoUpdatesFor(3);
      assert.deepEqual(await images(), {
        [worker]: 'nginx:1.19.5',
        [worker2]: 'nginx:1.19.4',
        [worker3]: 'nginx:1.19.4',
      });
      assert.equal(
        await c.kubectl(['get', 'pods', '-o', 'name', `--field-selector=spec.nodeName!=${worker}`]),
        before,
        'the pods of the two were left alone',
      );

      await c.cluster.online([worker2, worker3]);
      await c.until(
        'all are updated',
        async () => Object.values(await images()).every((image) => image === 'nginx:1.19.5'),
        60_000,
      );
      await ready(3);
      await c.kubectl(['wait', '--for=condition=Complete', 'dro/nginx-daemonset', '--timeout=30s']);
    },
    { nodes: [worker, worker2, worker3], daemonSets: ['nginx-daemonset'], forAll: true },
  );
});
