import { section } from '../kit/index.ts';
import { countOf, untilDone, untilOneMore, updateMethods } from './update-methods.ts';

export const crash = section(
  'Crash of the manager of Advanced DaemonSets',
  (rule) => {
    for (const { name, shape, writes } of updateMethods) {
      rule(
        `an update ${name} continues where a manager was killed, at each kind of write`,
        async (c) => {
          await c.rolledOut(shape);
          let { manager } = c;
          const before = await Promise.all(writes.map((write) => countOf(c, write)));
          await c.setImage('app:v2');
          for (const [index, write] of writes.entries()) {
            // Earlier writes of this kind may have been counted already.
            const seen = index === 0 ? (before[0] ?? 0) : await countOf(c, write);
            await untilOneMore(c, write, seen);
            manager.kill('SIGKILL');
            manager = await c.startManager();
          }
          await untilDone(c);
        },
        { nodes: 2 * writes.length + 2 },
      );
    }

    rule(
      'an update in place that stopped midway continues under a manager that finds the template changed',
      async (c) => {
        const way = updateMethods.find(({ shape }) => shape.rollingUpdate?.rollingUpdateType === 'InPlaceIfPossible');
        const [, shut] = way?.writes ?? [];
        if (!way || !shut) throw new Error('there is no way of updating in place');
        await c.startRollout('app:bad--never-ready', {
          ...way.shape,
          annotations: { 'apps.kruise.io/inplace-update-grace': '3' },
        });
        await untilOneMore(c, shut, 0);
        c.manager.kill('SIGKILL');
        await c.setImage('app:v1');
        await c.startManager();
        await c.untilComplete('app:v1');
      },
      { nodes: 4 },
    );
  },
  { kind: 'advanced' },
);
