import assert from 'node:assert/strict';
import { section } from '../kit/index.ts';
import { reportMovedTag } from '../kit/moved-tag.ts';

export const imageDrift = section(
  'Images that differ between nodes',
  (rule) => {
    for (const [how, rollingUpdate] of [
      ['recreating', {}],
      ['in place', { rollingUpdateType: 'InPlaceIfPossible' }],
    ] as const)
      rule(
        `halt a rollout, ${how}, and the DaemonSet says which`,
        async (c) => {
          await c.rolledOut({
            annotations: { 'edgeset.io/on-image-drift': 'halt' },
            rollingUpdate: { ...rollingUpdate, maxUnavailable: 1, partition: 2 },
          });
          await c.setImage('app:v2');
          await c.untilUpdates(2);
          const [node = '', other = ''] = await c.updatedNodes();
          await c.untilRunning('app:v2', [node, other].toSorted());
          assert.equal((await c.condition('ImageDrift'))?.status, 'False');
          await reportMovedTag(c, node);
          assert.equal((await c.untilCondition('Halted')).reason, 'ImageDrift');
          const told = await c.until('the DaemonSet says so', async () =>
            (await c.advanced()).status?.conditions?.find(
              ({ type, status }) => type === 'ImageDrift' && status === 'True',
            ),
          );
          assert.equal(told.reason, 'ImagesDiffer');
          assert.match(told.message, /^Image app:v2 is not the same on all nodes of amd64: 1 node reports sha256:/);
          await c.change({ spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
          await c.expectNoUpdatesFor(2);
          assert.equal((await c.updates()).length, 2);
          await c.api.remove(`/api/v1/namespaces/${c.namespace}/pods/${(await c.podOn(node)).name}`);
          await c.untilCondition('Halted', 'False');
          await c.untilComplete('app:v2');
          await c.until('the DaemonSet says so', async () =>
            (await c.advanced()).status?.conditions?.some(
              ({ type, reason }) => type === 'ImageDrift' && reason === 'ImagesAgree',
            ),
          );
        },
        { nodes: 4 },
      );
  },
  { kind: 'advanced' },
);
