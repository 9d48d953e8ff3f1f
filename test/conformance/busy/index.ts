import assert from 'node:assert/strict';
import { section } from '../kit/index.ts';
import { createPlan, label, passed, planKey, ring, untilStage } from '../kit/plans.ts';
import { untilExplained } from '../plugin/run.ts';

const TAINT = 'example.com/job';
const CONDITION = 'MaintenanceInProgress';

export const busy = section('Busy nodes', (rule) => {
  rule(
    'that a label, a taint or a condition marks begin no update, block no stage, and follow once they are free',
    async (c) => {
      const [labelled = '', tainted = '', maintained = '', ...free] = c.nodes;
      const setCondition = (status: string): Promise<unknown> =>
        c.api.patch(`/api/v1/nodes/${maintained}/status`, {
          status: { conditions: [{ type: CONDITION, status, reason: 'Test', message: '' }] },
        });
      const setTaints = (taints: readonly object[] | null): Promise<unknown> =>
        c.api.merge(`/api/v1/nodes/${tainted}`, { spec: { taints } });
      await label(c, { ring: 'lab' }, c.nodes);
      await createPlan(c, {
        stages: [ring('lab')],
        skipNodes: {
          selector: { matchLabels: { 'kured.dev/reboot': 'now' } },
          taints: [TAINT],
          conditions: [CONDITION],
        },
      });
      await c.rolledOut({ annotations: { [planKey]: 'rings', 'apps.openyurt.io/max-unavailable': '100%' } });
      await label(c, { 'kured.dev/reboot': 'now' }, [labelled]);
      await setTaints([{ key: TAINT, effect: 'PreferNoSchedule' }]);
      await setCondition('True');
      await c.setImage('app:v2');
      await untilStage(c, 'lab', passed, 'is passed');
      assert.deepEqual((await c.updatedNodes()).toSorted(), free.toSorted());
      await c.expectNoUpdatesFor(2);
      const { causes } = await c.status();
      assert.equal(causes?.find(({ cause }) => cause === 'busy')?.count, 3);
      await untilExplained(c, maintained, 'held (busy)', /skips it while it is busy/);
      await label(c, { 'kured.dev/reboot': 'later' }, [labelled]);
      await c.untilRunning('app:v2', [...free, labelled]);
      await setTaints(null);
      await setCondition('False');
      await c.untilComplete('app:v2');
    },
    { nodes: 5, budget: '100%' },
  );
});
