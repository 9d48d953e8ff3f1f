import { section } from '../kit/index.ts';

export const firstWave = section(
  'First wave',
  (rule) => {
    for (const [how, rollingUpdate] of [
      ['recreating', { maxUnavailable: '100%' }],
      ['in place', { rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: '100%' }],
      ['surging', { maxSurge: '100%', maxUnavailable: 0 }],
    ] as const)
      rule(
        `three nodes try a version first, ${how}, and the others once it works`,
        async (c) => {
          await c.rolledOut({ rollingUpdate });
          await c.setImage('app:v2--never-ready');
          await c.untilUpdates(3);
          await c.expectNoUpdatesFor(2);
          if ((await c.updates()).length !== 3) throw new Error('more than three nodes try it');
          await c.setImage('app:v3');
          await c.untilRunning('app:v3');
          await c.untilCondition('Complete');
        },
        { nodes: 8, budget: 8 },
      );

    rule(
      'one that fails everywhere is halted after as many nodes as the annotation says',
      async (c) => {
        await c.rolledOut({
          annotations: { 'edgeset.io/first-wave': '25%' },
          rollingUpdate: { maxUnavailable: '100%' },
        });
        await c.setImage('app:v2--crash-loop');
        await c.untilCondition('Halted');
        await c.expectNoUpdatesFor(1);
        if ((await c.updates()).length !== 2) throw new Error('a quarter of eight nodes is two');
      },
      { nodes: 8, budget: 8 },
    );
  },
  { kind: 'advanced' },
);
