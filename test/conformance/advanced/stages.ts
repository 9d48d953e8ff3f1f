import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { DaemonRollout } from '../../../src/words/index.ts';
import { budgetKey, section } from '../kit/index.ts';
import { awaits, createPlan, decide, FRESH_CRD, label, planKey, ring, untilStage } from '../kit/plans.ts';

import { deleteByHand } from './strategy.ts';

const KIND = 'apps.kruise.io';

export const stages = section(
  'Stages and groups of a rollout plan',
  (rule) => {
    rule(
      'pods are updated in place ring by ring, and an approval of this kind of DaemonSet opens the rest',
      async (c) => {
        const [lab = '', canary = ''] = c.nodes;
        await label(c, { ring: 'lab' }, [lab]);
        await label(c, { ring: 'canary' }, [canary]);
        await createPlan(c, {
          stages: [ring('lab', { soak: '1s' }), ring('canary', { approval: { required: true } })],
        });
        await c.rolledOut({
          annotations: { [planKey]: 'rings' },
          rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: '100%' },
        });
        const before = new Map((await c.pods()).map(({ node, uid }) => [node, uid]));
        await c.setImage('app:v2');
        await untilStage(c, 'canary', awaits('Approval'), 'awaits an approval');
        assert.deepEqual(await c.updatedNodes(), [lab, canary]);
        await c.expectNoUpdatesFor(2);
        await decide(c, 'canary', 'Approve', 'apps');
        await c.expectNoUpdatesFor(1);
        await decide(c, 'canary', 'Approve', KIND);
        await c.untilComplete('app:v2');
        for (const { node, uid } of await c.pods()) assert.equal(uid, before.get(node), 'the pod was kept');
      },
      { nodes: 4, budget: 4 },
    );

    for (const how of ['recreated', 'in place'] as const)
      rule(
        `a closed stage stays closed, ${how}: deleted pods and new nodes get the revision that was last complete`,
        async (c) => {
          const [lab = '', deleted = ''] = c.nodes;
          const joined = `${c.namespace}-joined`;
          await label(c, { ring: 'lab' }, [lab]);
          await createPlan(c, { stages: [ring('lab', { approval: { required: true } })] });
          await c.rolledOut({
            annotations: { [planKey]: 'rings' },
            spec: { revisionHistoryLimit: 0 },
            rollingUpdate: {
              maxUnavailable: '100%',
              ...(how === 'in place' && { rollingUpdateType: 'InPlaceIfPossible' }),
            },
          });
          await c.setImage('app:v2');
          await untilStage(c, 'lab', awaits('Approval'), 'awaits an approval');
          await deleteByHand(c, deleted);
          await c.addNodes([joined]);
          await c.untilRunning('app:v1', [deleted, joined]);
          assert.deepEqual(await c.running('app:v2'), [lab]);
          await c.expectNoUpdatesFor(2);
          await decide(c, 'lab', 'Approve', KIND);
          await c.untilRunning('app:v2', [...c.nodes, joined]);
          await c.untilCondition('Complete');
        },
        { nodes: 3, budget: 4 },
      );

    rule(
      'a closed stage exposes a node only where no revision is known that was complete',
      async (c) => {
        const [lab = '', deleted = '', held = ''] = c.nodes;
        await label(c, { ring: 'lab' }, [lab]);
        await createPlan(c, { stages: [ring('lab', { approval: { required: true } })] });
        await c.rolledOut({ annotations: { [planKey]: 'rings' }, rollingUpdate: { maxUnavailable: '100%' } });
        await c.setImage('app:v2');
        await untilStage(c, 'lab', awaits('Approval'), 'awaits an approval');
        await deleteByHand(c, deleted);
        assert.deepEqual(await c.running('app:v2'), [lab]);
        await c.expectNoUpdatesFor(1);
        assert.deepEqual(await c.events('StageExposed'), []);
        c.manager.kill('SIGKILL');
        await c.api.remove(`/apis/edgeset.io/v1alpha1/namespaces/${c.namespace}/daemonrollouts/app.apps.kruise.io`);
        await c.startManager();
        await untilStage(c, 'lab', awaits('Approval'), 'awaits an approval');
        await deleteByHand(c, deleted);
        await untilStage(c, 'rest', ({ nodes }) => nodes.exposed === 1, 'exposes it');
        await c.untilWarning('StageExposed');
        assert.deepEqual((await c.running('app:v2')).toSorted(), [lab, deleted].toSorted());
        await decide(c, 'lab', 'Approve', KIND);
        await c.untilRunning('app:v2');
        assert.deepEqual((await c.updatedNodes()).toSorted(), [lab, held].toSorted());
      },
      { nodes: 3, budget: 3 },
    );

    rule(
      'a cycle across both kinds makes both invalid, and nothing is updated until it is broken',
      async (c) => {
        await c.create({ name: 'driver', annotations: { [budgetKey]: '100%' } }, 'native');
        await c.rolledOut({ rollingUpdate: { maxUnavailable: '100%' } });
        await createPlan(c, { after: [{ name: 'driver' }] }, 'after-driver');
        await createPlan(c, { after: [{ apiGroup: KIND, name: 'app' }] }, 'after-app');
        const driver = `/apis/apps/v1/namespaces/${c.namespace}/daemonsets/driver`;
        const rollout = `/apis/edgeset.io/v1alpha1/namespaces/${c.namespace}/daemonrollouts/driver`;
        const invalid = ({ status }: DaemonRollout, words: RegExp): boolean =>
          (status?.conditions ?? []).some(
            ({ type, status: is, reason, message }) =>
              type === 'Stalled' && is === 'True' && reason === 'InvalidPolicy' && words.test(message),
          );
        await c.annotate({ [planKey]: 'after-driver' });
        await c.api.merge(driver, { metadata: { annotations: { [planKey]: 'after-app' } } });
        await c.until('driver is invalid', async () =>
          invalid(await c.api.get(rollout), /"ds\/driver after ads\/app after ds\/driver" is a cycle/),
        );
        const stalled = await c.untilCondition('Stalled');
        assert.match(stalled.message, /"ads\/app after ds\/driver after ads\/app" is a cycle/);
        const images = (pods: readonly { image: string }[]): string[] => [...new Set(pods.map(({ image }) => image))];
        const expectNoUpdates = async (): Promise<void> => {
          await c.expectNoUpdatesFor(2);
          assert.deepEqual(images([...(await c.pods()), ...(await c.pods('driver'))]), ['app:v1']);
        };
        const setDriver = (value: string): Promise<unknown> =>
          c.api.edit(driver, [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value }]);
        // Each of them alone, with the other at its target, so that it would not even have to wait.
        await setDriver('driver:v2');
        await expectNoUpdates();
        await setDriver('app:v1');
        await c.setImage('app:v2');
        await expectNoUpdates();
        await setDriver('driver:v2');
        await expectNoUpdates();
        await c.api.merge(driver, { metadata: { annotations: { [planKey]: null } } });
        await c.untilRunning('app:v2');
        assert.deepEqual(images(await c.pods('driver')), ['driver:v2']);
      },
      { budget: 3, others: [{ name: 'driver', kind: 'native', budget: 3 }] },
    );

    rule(
      'a surge counts in the group of its node',
      async (c) => {
        const sites = ['a', 'a', 'b', 'b'];
        for (const [index, node] of c.nodes.entries()) await label(c, { site: sites[index] ?? '' }, [node]);
        await createPlan(c, { maxUnavailablePer: [{ topologyKey: 'site', value: 1 }] });
        await c.startRollout('app:v2--slow', {
          annotations: { [planKey]: 'rings' },
          rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 },
        });
        let most = 0;
        await c.until('every node is updated', async () => {
          const pods = (await c.pods()).filter(({ terminating }) => !terminating);
          const surging = c.nodes.filter((node) => pods.filter((pod) => pod.node === node).length > 1);
          for (const site of ['a', 'b'])
            most = Math.max(most, surging.filter((node) => sites[c.nodes.indexOf(node)] === site).length);
          return pods.length === 4 && pods.every((pod) => pod.image === 'app:v2--slow' && pod.ready);
        });
        assert.equal(most, 1);
      },
      { nodes: 4, budget: 4 },
    );

    rule(
      'a node gets its native driver first',
      async (c) => {
        const [late = '', ...others] = c.nodes;
        // Paused, so that only the case itself replaces its pods.
        const paused = { [budgetKey]: '100%', 'edgeset.io/paused': 'true' };
        await c.create({ name: 'driver', annotations: paused }, 'native');
        await createPlan(c, { after: [{ name: 'driver' }] });
        await c.rolledOut({ annotations: { [planKey]: 'rings' }, rollingUpdate: { maxUnavailable: '100%' } });
        const path = `/apis/apps/v1/namespaces/${c.namespace}/daemonsets/driver`;
        const driverPods = `/api/v1/namespaces/${c.namespace}/pods`;
        await c.api.patch(path, {
          spec: { template: { spec: { containers: [{ name: 'app', image: 'driver:v2' }] } } },
        });
        await c.until('the driver is outdated', async () => {
          const rollout = await c.api.get<DaemonRollout>(
            `/apis/edgeset.io/v1alpha1/namespaces/${c.namespace}/daemonrollouts/driver`,
          );
          return rollout.status?.nodes?.outdated === 3;
        });
        await c.setImage('app:v2');
        await c.until('every node waits for it', async () => {
          const { causes } = await c.status();
          return causes?.find(({ cause }) => cause === 'after')?.count === 3;
        });
        const replaceDriver = async (nodes: readonly string[]): Promise<void> => {
          const { items } = await c.api.get<{ items: Pod[] }>(`${driverPods}?labelSelector=app%3Ddriver`);
          for (const { metadata, spec } of items)
            if (nodes.includes(spec?.nodeName ?? '')) await c.api.remove(`${driverPods}/${metadata?.name}`);
        };
        await replaceDriver(others);
        await c.untilRunning('app:v2', others);
        await c.expectNoUpdatesFor(1);
        await replaceDriver([late]);
        await c.untilRunning('app:v2');
      },
      { budget: 3 },
    );
  },
  { kind: 'advanced', expected: FRESH_CRD },
);
