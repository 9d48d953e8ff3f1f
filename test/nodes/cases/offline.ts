import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { eventually } from '../../support/index.ts';
import { type App, deployApp } from '../app.ts';
import type { Site } from '../product.ts';

const NODES = ['a-1', 'a-2', 'a-3'];

/** Automatic rollouts while nodes are cut off, lose power, run without a kubelet or hang on a slow link. */
export const offline = (site: Site): void => {
  let app: App;
  let version = 1;
  const nextImage = (): string => site.cluster.images.add(`fleet:v${(version += 1)}`);
  const without = (node: string): string[] => NODES.filter((name) => name !== node);

  before(async () => {
    app = await deployApp({
      cluster: site.cluster,
      name: 'fleet',
      nodes: NODES,
      image: site.cluster.images.add('fleet:v1'),
      annotations: { 'apps.openyurt.io/max-unavailable': '1' },
      container: { env: [{ name: 'STOP_MS', value: '1500' }] },
    });
  });
  after(() => app.remove());

  /** The node whose pod is the first to terminate. */
  const firstToStop = (): Promise<string> =>
    eventually('a pod terminates', async () => {
      const going = (await app.pods()).find(({ metadata }) => metadata?.deletionTimestamp !== undefined);
      return going?.spec?.nodeName;
    });

  /** The others are updated without `node`, and that is told apart from a rollout that reached all. */
  const completesWithout = async (node: string, image: string): Promise<void> => {
    await app.untilRunning(image, without(node));
    await app.untilCondition('Complete');
    assert.equal(await app.condition('AllNodesUpdated'), undefined);
    assert.deepEqual(
      (await app.rollout())?.stragglers?.map((each) => each.node),
      [node],
    );
  };
  const catchesUp = async (image: string): Promise<void> => {
    await app.untilRunning(image);
    await app.untilCondition('AllNodesUpdated');
  };

  it('update one node at a time', async () => {
    const image = nextImage();
    await app.change({ image });
    await app.untilRunning(image);
    await app.untilCondition('AllNodesUpdated');
    assert.equal(app.timeline.mostDown(), 1);
  });

  it('continue without a node that is cut off while its pod terminates', async () => {
    const image = nextImage();
    await app.change({ image });
    const node = await firstToStop();
    const { link } = site.cluster.machine(node);
    await link.cut();
    await completesWithout(node, image);
    await link.restore();
    await catchesUp(image);
  });

  it('continue without a node that loses power while its pod terminates', async () => {
    const image = nextImage();
    await app.change({ image });
    const node = await firstToStop();
    const machine = site.cluster.machine(node);
    await machine.powerOff();
    await completesWithout(node, image);
    await machine.powerOn();
    await catchesUp(image);
  });

  it('skip a node whose kubelet is stopped, and say so', async () => {
    const [node = ''] = NODES;
    const machine = site.cluster.machine(node);
    await machine.stopKubelet();
    await site.cluster.untilNode(node, false);
    const image = nextImage();
    await app.change({ image });
    await completesWithout(node, image);
    const words = await site.product.plugin('explain', app.reference, '--node', node, '-n', app.namespace);
    assert.match(words, new RegExp(`^${node}: offline`));
    await machine.startKubelet();
    await catchesUp(image);
  });

  it('wait for a link of 2 Mbit/s without calling it a failure', async () => {
    const [node = ''] = NODES;
    const { link } = site.cluster.machine(node);
    await link.limit(2000);
    await app.annotate({ 'edgeset.io/predownload': 'required' });
    const image = site.cluster.images.add('fleet:heavy', 2_500_000);
    await app.change({ image });
    await catchesUp(image);
    await link.limit(undefined);
    const status = await app.rollout();
    assert.deepEqual(status?.failing ?? [], []);
    const worst = Math.max(...app.timeline.downtimes().values());
    // The pull takes ten seconds on that link.
    assert.ok(worst < 8000, `${worst} ms without a ready pod`);
  });
};
