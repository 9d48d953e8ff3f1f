import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { eventually } from '../../support/index.ts';
import { type App, deployApp } from '../app.ts';
import { NEXT_TAG, namespace, type Site } from '../product.ts';

/** What happens to the manager in the middle of a rollout. */
export const manager = (site: Site, nodes: readonly string[]): void => {
  let app: App;
  let version = 1;

  /** The name and the node of the manager that leads. */
  const leader = async (): Promise<{ name: string; node: string }> => {
    const lease = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/edgeset-manager`;
    const { spec } = await site.cluster.plane.api.get<{ spec: { holderIdentity: string } }>(lease);
    const pods = `/api/v1/namespaces/${namespace}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3Dmanager`;
    const { items } = await site.cluster.plane.api.get<{ items: Pod[] }>(pods);
    const pod = items.find(({ metadata }) => spec.holderIdentity.startsWith(metadata?.name ?? '-'));
    return { name: pod?.metadata?.name ?? '', node: pod?.spec?.nodeName ?? '' };
  };

  before(async () => {
    app = await deployApp({
      cluster: site.cluster,
      name: 'fleet',
      nodes,
      image: site.cluster.images.add('hold:v1'),
      annotations: { 'apps.openyurt.io/max-unavailable': '1' },
      spec: { minReadySeconds: 2 },
    });
    await app.untilCondition('Complete');
  });
  after(() => app.remove());

  /** Starts a rollout, lets `interrupt` happen while the first node is down, and sees the rollout through. */
  const interrupted = async (interrupt: () => Promise<unknown>): Promise<void> => {
    const image = site.cluster.images.add(`hold:v${(version += 1)}`);
    await app.change({ image });
    await eventually('the first node is down', () => app.timeline.mostDown() > 0);
    await interrupt();
    await app.untilRunning(image, nodes, 90_000);
    await app.untilCondition('Complete');
    assert.equal(app.timeline.mostDown(), 1);
  };

  it('continues after the node of the leader lost power', async () => {
    const { node } = await leader();
    await interrupted(() => site.cluster.machine(node).powerOff());
    assert.notEqual((await leader()).node, node);
    await site.cluster.machine(node).powerOn();
    await site.cluster.untilNode(node, true);
  });

  it('continues when the leader is moved to another node', async () => {
    const { name, node } = await leader();
    await interrupted(() =>
      site.cluster.kubectl('drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=60s'),
    );
    assert.notEqual((await leader()).name, name);
    await site.cluster.kubectl('uncordon', node);
  });

  it('continues while the chart upgrades the manager', async () => {
    const { name } = await leader();
    await interrupted(() => site.product.upgrade(`manager.image.tag=${NEXT_TAG}`));
    assert.notEqual((await leader()).name, name);
  });
};
