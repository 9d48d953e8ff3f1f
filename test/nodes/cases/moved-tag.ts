import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../../support/index.ts';
import { deployApp } from '../app.ts';
import type { Site } from '../product.ts';

const DIGEST = /^registry\.test\/moved-tag@(sha256:[0-9a-f]{64})$/;

/** A tag that is pushed again between the updates of two nodes. */
export const movedTag = (site: Site, nodes: readonly [string, string]): void => {
  it('whose tag is pushed again halts with both digests, and continues once the nodes agree', async () => {
    const add = (): string => site.cluster.images.add('moved-tag:v2');
    const app = await deployApp({
      cluster: site.cluster,
      name: 'moved-tag',
      nodes,
      image: site.cluster.images.add('moved-tag:v1'),
      annotations: { 'edgeset.io/on-image-drift': 'halt', 'edgeset.io/partition': '1' },
      container: { imagePullPolicy: 'Always' },
    });
    await app.untilCondition('Complete');
    const image = add();
    await app.change({ image });
    const first = await eventually(
      'one node runs the version',
      async () =>
        (await app.pods()).find(
          ({ spec, status }) =>
            spec?.containers[0]?.image === image &&
            status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
        )?.spec?.nodeName,
      { withinMs: 60_000, everyMs: 200 },
    );
    assert.equal(await app.condition('ImageDrift'), undefined);

    add();
    await app.annotate({ 'edgeset.io/partition': null });
    await app.untilRunning(image);
    const digests = (await app.podsOn(nodes)).map(
      ({ status }) => DIGEST.exec(status?.containerStatuses?.[0]?.imageID ?? '')?.[1] ?? '',
    );
    assert.equal(new Set(digests).size, 2);
    const message = await app.untilCondition('ImageDrift');
    for (const digest of digests) assert.ok(digest !== '' && message.includes(`1 node reports ${digest}`), message);
    assert.match(
      await app.untilCondition('Halted'),
      /different content under the name of registry\.test\/moved-tag:v2/,
    );
    const explained = await site.product.plugin('explain', app.reference, '-n', app.namespace);
    assert.match(explained.replaceAll(/\s+/g, ' '), /is not the same on all nodes/);

    // Its node pulls the tag again.
    const { name = '' } = (await app.podOn(first)).metadata ?? {};
    await site.cluster.plane.api.delete(`/api/v1/namespaces/${app.namespace}/pods/${name}`);
    await eventually(
      'the rollout is halted no longer',
      async () =>
        (await app.rollout())?.conditions?.every(
          ({ type, status }) => status === 'False' || !['Halted', 'ImageDrift'].includes(type),
        ),
      { withinMs: 60_000, everyMs: 200 },
    );
    await app.untilRunning(image);
    await app.untilCondition('Complete');
    await app.remove();
  });
};
