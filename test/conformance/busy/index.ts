import assert from 'node:assert/strict';
import { budgetKey, type Case, type CaseKind, type Rule, section } from '../kit/index.ts';
import { createPlan, FRESH_CRD, label, passed, planKey, plansPath, ring, untilStage } from '../kit/plans.ts';
import { untilExplained, untilSaid } from '../plugin/run.ts';

const TAINT = 'example.com/job';
const CONDITION = 'MaintenanceInProgress';
/** As kured sets it with --pre-reboot-node-labels. */
const LABEL = 'kured';

const setCondition = (c: Case, node: string, status: 'True' | 'False'): Promise<unknown> =>
  c.api.patch(`/api/v1/nodes/${node}/status`, {
    status: { conditions: [{ type: CONDITION, status, reason: 'Test', message: '' }] },
  });
const setTaint = (c: Case, node: string, isBusy: boolean): Promise<unknown> =>
  c.api.merge(`/api/v1/nodes/${node}`, {
    spec: { taints: isBusy ? [{ key: TAINT, effect: 'PreferNoSchedule' }] : null },
  });

/** Nodes that a rollout plan skips while they are busy, for one kind of DaemonSet. */
export const busyRules = (kind: CaseKind): Rule[] => {
  const all = {
    annotations: { [planKey]: 'rings', ...(kind === 'native' && { [budgetKey]: '100%' }) },
    ...(kind === 'advanced' && { rollingUpdate: { maxUnavailable: '100%' } }),
  };

  return section(
    'Busy nodes',
    (rule) => {
      rule(
        'that a label, a taint or a condition marks begin no update, block no stage, and follow once they are free',
        async (c) => {
          const [labelled = '', tainted = '', maintained = '', ...free] = c.nodes;
          await label(c, { ring: 'lab' }, c.nodes);
          await createPlan(c, {
            stages: [ring('lab')],
            skipNodes: {
              selector: { matchLabels: { [LABEL]: 'rebooting' } },
              taints: [TAINT],
              conditions: [CONDITION],
            },
          });
          await c.rolledOut(all);
          await label(c, { [LABEL]: 'rebooting' }, [labelled]);
          await setTaint(c, tainted, true);
          await setCondition(c, maintained, 'True');
          await c.setImage('app:v2');
          await untilStage(c, 'lab', passed, 'is passed');
          assert.deepEqual((await c.updatedNodes()).toSorted(), free.toSorted());
          await c.expectNoUpdatesFor(2);
          const { causes } = await c.status();
          assert.equal(causes?.find(({ cause }) => cause === 'busy')?.count, 3);
          await untilExplained(c, labelled, 'held (busy)', /it has labels that the selector matches/);
          await untilExplained(c, tainted, 'held (busy)', new RegExp(`it has the taint ${TAINT}`));
          await untilExplained(c, maintained, 'held (busy)', new RegExp(`it has the condition ${CONDITION}`));
          await untilSaid(c, /held back: 3 while they are busy/, 'plan', 'app');
          await label(c, { [LABEL]: 'done' }, [labelled]);
          await c.untilRunning('app:v2', [...free, labelled]);
          await setTaint(c, tainted, false);
          await setCondition(c, maintained, 'False');
          await c.untilComplete('app:v2');
        },
        { nodes: 5, budget: '100%' },
      );

      rule(
        'that become so while their update is under way finish it, and begin no other, not even the way back',
        async (c) => {
          const [node = ''] = c.nodes;
          await createPlan(c, { skipNodes: { conditions: [CONDITION] } });
          await c.rolledOut({ ...all, podAnnotations: { 'sim.edgeset.io/start-ms': '3000' } });
          await c.setImage('app:v2');
          await c.untilUpdates(c.nodes.length);
          await setCondition(c, node, 'True');
          await c.untilComplete('app:v2');
          await setCondition(c, node, 'False');
          await c.setImage('app:v3--never-ready');
          await c.until('it is on every node', async () => {
            const pods = await c.pods();
            return pods.length === c.nodes.length && pods.every(({ image }) => image === 'app:v3--never-ready');
          });
          await setCondition(c, node, 'True');
          await c.setImage('app:v2');
          const others = c.nodes.filter((each) => each !== node);
          await c.untilRunning('app:v2', others);
          await untilExplained(c, node, 'held (busy)', /it has the condition/);
          assert.equal((await c.updatedNodes()).filter((each) => each === node).length, 2);
          await setCondition(c, node, 'False');
          await c.untilComplete('app:v2');
        },
        { budget: '100%' },
      );

      rule(
        'of a plan that does not say clearly which they are: it is refused, or holds the rollout and names the field',
        async (c) => {
          for (const [skipNodes, why] of [
            [{ taints: ['not a key'] }, /spec\.skipNodes\.taints\[0\]/],
            [{ conditions: ['Ready'] }, /name another condition/],
            [{ selector: { matchLabels: { 'not a key': 'true' } } }, /spec\.skipNodes\.selector\.matchLabels/],
            [{}, /skips no node/],
          ] as const)
            await assert.rejects(c.api.create(plansPath(c.namespace), planWith(skipNodes)), why);
          await c.api.create(plansPath(c.namespace), planWith({ selector: { matchLabels: { [LABEL]: 'right now' } } }));
          const { [planKey]: _none, ...annotations } = all.annotations;
          await c.rolledOut({ ...all, annotations });
          await c.annotate({ [planKey]: 'rings' });
          await c.setImage('app:v2');
          const invalid = /rings: spec\.skipNodes\.selector .* has "right now" where a value of label/;
          await untilSaid(c, invalid, 'explain', 'app');
          await c.expectNoUpdatesFor(2);
          assert.deepEqual(await c.updatedNodes(), []);
          await c.api.merge(`${plansPath(c.namespace)}/rings`, {
            spec: { skipNodes: { selector: { matchLabels: { [LABEL]: 'rebooting' } } } },
          });
          await c.untilRunning('app:v2');
        },
        { budget: '100%' },
      );
    },
    { kind, expected: FRESH_CRD },
  );
};

const planWith = (skipNodes: object): object => ({
  apiVersion: 'edgeset.io/v1alpha1',
  kind: 'RolloutPlan',
  metadata: { name: 'rings' },
  spec: { skipNodes },
});
