import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../../support/index.ts';
import { deployApp } from '../app.ts';
import type { Site } from '../product.ts';

const IMAGE_BYTES = 40_000_000;
/** Less than the image and its unpacked copy need. */
const FREE_BYTES = 50_000_000;

/** A node whose disk has no room for the new version. */
export const fullDisk = (site: Site, node: string): void => {
  it('halts a version that does not fit on the disk, says why, and takes it back', async () => {
    const machine = site.cluster.machine(node);
    const image = site.cluster.images.add('disk:v1');
    const app = await deployApp({
      cluster: site.cluster,
      name: 'disk',
      nodes: [node],
      image,
      annotations: { 'apps.openyurt.io/max-unavailable': '1', 'edgeset.io/progress-deadline-seconds': '20' },
    });
    await app.untilCondition('Complete');
    const free = Number((await machine.run('df', '--output=avail', '--block-size=1', '/var')).split('\n')[1]);
    await machine.run('fallocate', '--length', String(free - FREE_BYTES), '/var/filler');

    await app.change({ image: site.cluster.images.add('disk:v2', IMAGE_BYTES) });
    await app.untilCondition('Halted', 90_000);
    const explained = await site.product.plugin('explain', app.reference, '--node', node, '-n', app.namespace);
    assert.match(explained, new RegExp(`^${node}: failed \\(image-pull\\)`));
    assert.match(explained.replaceAll(/\s+/g, ' '), /no space left on device/);

    await machine.run('rm', '/var/filler');
    await eventually(
      'the node has room again',
      async () => {
        const { spec } = await site.cluster.plane.api.get<{ spec: { taints?: unknown[] } }>(`/api/v1/nodes/${node}`);
        return spec.taints === undefined;
      },
      { everyMs: 200 },
    );
    await site.product.plugin('undo', app.reference, '-n', app.namespace);
    await app.untilRunning(image, [node], 90_000);
    await app.untilCondition('Complete');
    await app.remove();
  });
};
