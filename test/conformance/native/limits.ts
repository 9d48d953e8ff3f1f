import assert from 'node:assert/strict';
import type { DaemonRollout } from '../../../src/words/index.ts';
import { budgetKey, type Case, section } from '../kit/index.ts';
import {
  awaits,
  createPlan,
  FRESH_CRD,
  label,
  passed,
  planKey,
  planObject,
  ring,
  untilStage,
  wide,
} from '../kit/plans.ts';

/** How many of these nodes were without a ready pod at the same time until all of them run the image. */
const mostDown = async (c: Case, image: string, nodes: readonly string[]): Promise<number> => {
  let most = 0;
  await c.until(`${nodes.length} nodes run ${image}`, async () => {
    const pods = await c.pods();
    const isUp = (node: string): boolean => pods.some((pod) => pod.node === node && pod.ready && !pod.terminating);
    most = Math.max(most, nodes.filter((node) => !isUp(node)).length);
    return nodes.every((node) => pods.some((pod) => pod.node === node && pod.image === image && pod.ready));
  });
  return most;
};

export const limits = section(
  'Limits of a stage',
  (rule) => {
    rule(
      'its failureThreshold and its maxUnavailable hold while it is the last open stage, below those of the DaemonSet',
      async (c) => {
        const lab = c.nodes.slice(0, 3);
        await label(c, { ring: 'lab' }, lab);
        await createPlan(c, { stages: [{ ...ring('lab'), failureThreshold: 1, maxUnavailable: 1 }] });
        await c.startRollout('app:v2--crash-loop', { annotations: wide });
        const halted = await c.untilCondition('Halted');
        assert.equal(halted.reason, 'Failures');
        assert.equal((await c.updates()).length, 1, 'three failures would halt a DaemonSet, and one halts the stage');
        await c.setImage('app:v3--slow');
        assert.equal(await mostDown(c, 'app:v3--slow', lab), 1);
        await c.untilRunning('app:v3--slow');
      },
      { nodes: 5, budget: 5 },
    );

    rule(
      'coverage and minNodes say how many nodes are enough, in a plan of the cluster',
      async (c) => {
        const [away = '', stuck = '', ...others] = c.nodes;
        await label(c, { ring: 'lab' }, [away, ...others.slice(0, 2)]);
        await label(c, { ring: 'half' }, [stuck, ...others.slice(2, 3)]);
        const path = '/apis/edgeset.io/v1alpha1/clusterrolloutplans';
        const spec = { stages: [ring('lab', { minNodes: 3 }), ring('half', { coverage: '50%' })] };
        await c.api.create(path, { ...planObject(c.namespace, spec), kind: 'ClusterRolloutPlan' });
        try {
          await c.rolledOut({ annotations: { ...wide, [planKey]: `cluster/${c.namespace}` } });
          await c.cluster.offline([away]);
          await c.cluster.behave([stuck], { behaviour: 'never-ready' });
          await c.setImage('app:v2');
          await untilStage(c, 'lab', awaits('MinNodes'), 'waits for the node that is offline');
          assert.equal((await c.condition('Ready'))?.reason, 'StageUpdating');
          await c.expectNoUpdatesFor(1);
          await c.cluster.online([away]);
          await untilStage(c, 'lab', passed, 'is passed');
          await untilStage(c, 'half', passed, 'is passed with one of its two nodes');
          await c.untilRunning(
            'app:v2',
            c.nodes.filter((node) => node !== stuck),
          );
        } finally {
          await c.api.remove(`${path}/${c.namespace}`);
        }
      },
      { nodes: 6, budget: 6 },
    );

    rule(
      'no node is updated before the whole rollout of an Advanced DaemonSet that comes first',
      async (c) => {
        const [last = '', ...others] = c.nodes;
        // Its pods are replaced by hand: the judge of a case knows one kind of DaemonSet.
        await c.create({ name: 'driver', updateStrategy: 'OnDelete' }, 'advanced');
        await c.rolledOut({ annotations: { [budgetKey]: '100%' } });
        const driver = `/apis/apps.kruise.io/v1beta1/namespaces/${c.namespace}/daemonsets/driver`;
        const driverRuns = async (image: string): Promise<string[]> =>
          (await c.pods('driver')).filter((pod) => pod.image === image && pod.ready).map(({ node }) => node);
        await c.until('the driver runs', async () => (await driverRuns('app:v1')).length === c.nodes.length);
        await createPlan(c, {
          after: [{ apiGroup: 'apps.kruise.io', kind: 'DaemonSet', name: 'driver', scope: 'Rollout' }],
        });
        await c.annotate({ [planKey]: 'rings' });
        await c.api.edit(driver, [
          { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'driver:v2' },
        ]);
        await c.until('the driver is outdated', async () => {
          const path = `/apis/edgeset.io/v1alpha1/namespaces/${c.namespace}/daemonrollouts/driver.apps.kruise.io`;
          const { status } = await c.api.get<DaemonRollout>(path);
          return status?.target?.number === 2 && status.nodes?.updated === 0;
        });
        const replaceDriver = async (nodes: readonly string[]): Promise<void> => {
          for (const { name, node } of await c.pods('driver'))
            if (nodes.includes(node)) await c.api.remove(`/api/v1/namespaces/${c.namespace}/pods/${name}`);
        };
        await c.setImage('app:v2');
        await replaceDriver(others);
        await c.until('it is on the others', async () => (await driverRuns('driver:v2')).length === others.length);
        await c.until('all nodes wait for it', async () => {
          const { causes } = await c.status();
          return causes?.find(({ cause }) => cause === 'after')?.count === c.nodes.length;
        });
        await c.expectNoUpdatesFor(1);
        await replaceDriver([last]);
        await c.untilRunning('app:v2');
      },
      { budget: 3 },
    );
  },
  { expected: FRESH_CRD },
);
