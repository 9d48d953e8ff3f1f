import assert from 'node:assert/strict';
import { budgetKey, type Case, section } from '../kit/index.ts';
import { awaits, createPlan, decide, FRESH_CRD, label, planKey, ring, stage, untilStage, wide } from '../kit/plans.ts';
import { untilExplained, untilSaid } from '../plugin/run.ts';

const EVENT = 'StageExposed';
const rolloutOf = ({ namespace }: Case): string =>
  `/apis/edgeset.io/v1alpha1/namespaces/${namespace}/daemonrollouts/app`;

/** Deletes the node's pod; resolves once there is another one. */
const deletePod = async (c: Case, node: string): Promise<void> => {
  const { name, uid } = await c.podOn(node);
  await c.api.remove(`/api/v1/namespaces/${c.namespace}/pods/${name}`);
  await c.until(`${node} has another pod`, async () =>
    (await c.pods()).some((pod) => pod.node === node && pod.uid !== uid && !pod.terminating),
  );
};

const untilExposed = (c: Case, name: string, nodes: number | undefined) =>
  untilStage(c, name, (found) => found.nodes.exposed === nodes, `exposes ${nodes}`);

/** The manager dies, and what it wrote down is lost. */
const loseRollout = async (c: Case): Promise<void> => {
  c.manager.kill('SIGKILL');
  await c.api.remove(rolloutOf(c));
};

export const exposed = section(
  'Nodes of closed stages that are exposed to the target',
  (rule) => {
    rule(
      'a recreated pod and a node that joins are counted, told of once, and updated once their stage opens',
      async (c) => {
        const [lab = '', recreated = '', later = '', held = ''] = c.nodes;
        const joined = `${c.namespace}-joined`;
        await label(c, { ring: 'lab' }, [lab]);
        await createPlan(c, { stages: [ring('lab', { approval: { required: true } })] });
        await c.rolledOut({ annotations: wide });
        await c.setImage('app:v2');
        await untilStage(c, 'lab', awaits('Approval'), 'awaits an approval');
        assert.equal((await stage(c, 'rest'))?.nodes.exposed, undefined);
        await deletePod(c, recreated);
        await untilExposed(c, 'rest', 1);
        const { note = '' } = await c.untilWarning(EVENT);
        assert.match(note, /1 of the 3 nodes of stage rest/);
        await c.addNodes([joined]);
        await untilExposed(c, 'rest', 2);
        await untilExplained(c, recreated, 'updated (current)', /runs the target revision\. Its stage rest is closed/);
        await untilExplained(c, held, 'held (stage)', /not open yet/);
        await untilSaid(c, /2 nodes of closed stages have the target, .*: /, 'explain', 'app');
        await untilSaid(c, /rest +Closed +2\/4 \(2 exposed\) /, 'status', 'app');
        const metrics = await (await fetch(`${c.manager.metrics}/metrics`)).text();
        assert.match(metrics, /^edgeset_stage_nodes\{.*stage="rest",nodes="exposed"\} 2$/m);
        c.manager.kill('SIGKILL');
        await c.startManager();
        await deletePod(c, later);
        await untilExposed(c, 'rest', 3);
        await c.expectNoUpdatesFor(2);
        assert.deepEqual(await c.updatedNodes(), [lab]);
        await decide(c, 'lab');
        await c.untilRunning('app:v2', [...c.nodes, joined]);
        await untilExposed(c, 'rest', 0);
        assert.deepEqual((await c.updatedNodes()).toSorted(), [lab, held].toSorted());
        assert.equal((await c.events(EVENT)).length, 1);
        await c.untilRecorded();
        // The way back opens all stages.
        await c.setImage('app:v3');
        await untilStage(c, 'lab', awaits('Approval'), 'awaits an approval');
        await deletePod(c, recreated);
        await untilExposed(c, 'rest', 1);
        await c.bringTo('app:v2');
        assert.equal((await stage(c, 'rest'))?.nodes.exposed, undefined);
      },
      { nodes: 4, budget: 5 },
    );

    rule(
      'their failures count for the breaker of the open stage',
      async (c) => {
        const [lab = '', first = '', second = ''] = c.nodes;
        await label(c, { ring: 'lab' }, [lab]);
        await createPlan(c, { stages: [{ ...ring('lab', { soak: '1h' }), failureThreshold: 2 }] });
        await c.rolledOut({ annotations: { ...wide, 'edgeset.io/failure-threshold': '3' } });
        await c.setImage('app:v2');
        await untilStage(c, 'lab', awaits('Soak'), 'soaks');
        await c.cluster.behave([first, second], { behaviour: 'crash-loop' });
        await deletePod(c, first);
        await c.until('its failure counts', async () => (await c.status()).breaker?.failures === 1);
        assert.equal((await c.condition('Halted'))?.status, 'False');
        await deletePod(c, second);
        assert.match((await c.untilCondition('Halted')).message, /failed on 2 nodes/i);
        await untilExplained(c, first, 'failed (crash-loop)', /keeps crashing.*Its stage rest is closed/);
        await untilExposed(c, 'rest', 2);
        await decide(c, 'lab', 'Promote');
        await c.expectNoUpdatesFor(2);
        assert.deepEqual(await c.updatedNodes(), [lab]);
      },
      { nodes: 5, budget: 5 },
    );

    rule(
      'a fleet that runs its target when a manager first sees it is not exposed',
      async (c) => {
        const [lab = ''] = c.nodes;
        await label(c, { ring: 'lab' }, [lab]);
        await c.rolledOut({ annotations: { [budgetKey]: '100%' } });
        await c.bringTo('app:v2');
        await loseRollout(c);
        await createPlan(c, { stages: [ring('lab', { soak: '1h' })] });
        await c.annotate({ [planKey]: 'rings' });
        await c.startManager();
        const found = await untilStage(c, 'rest', ({ state }) => state === 'Closed', 'is closed');
        assert.equal(found.nodes.exposed, undefined);
        await c.untilCondition('Complete');
        await deletePod(c, c.nodes[1] ?? '');
        await c.untilRunning('app:v2');
        await c.expectNoUpdatesFor(1);
        assert.deepEqual((await c.events(EVENT)).length, 0);
      },
      { budget: 3 },
    );
  },
  { expected: FRESH_CRD },
);
