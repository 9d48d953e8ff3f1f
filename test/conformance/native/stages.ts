import assert from 'node:assert/strict';
import { budgetKey, leaderElectionArgs, section, strategyKey } from '../kit/index.ts';
import {
  awaits,
  createPlan,
  decide,
  FRESH_CRD,
  label,
  me,
  passed,
  planKey,
  plansPath,
  ring,
  stage,
  untilStage,
  wide,
} from '../kit/plans.ts';

export const stages = section(
  'Stages, windows and groups of a rollout plan',
  (rule) => {
    rule(
      'one ring follows the other: coverage, a soak, an approval, and the rest',
      async (c) => {
        const [lab = '', first = '', second = '', ...others] = c.nodes;
        await label(c, { ring: 'lab' }, [lab]);
        await label(c, { ring: 'canary' }, [first, second]);
        await createPlan(c, {
          stages: [ring('lab', { soak: '10s' }), ring('canary', { approval: { required: true } })],
        });
        await c.rolledOut({ annotations: wide });
        assert.equal((await c.events('StageOpened')).length, 0, 'the first revision of a new DaemonSet is not staged');
        await c.setImage('app:v2');
        const soaking = await untilStage(c, 'lab', awaits('Soak'), 'soaks');
        assert.deepEqual(await c.updatedNodes(), [lab]);
        const soak = Date.parse(soaking.soakUntil ?? '') - Date.parse(soaking.coveredAt ?? '');
        assert.equal(soak, 10_000);
        const { causes } = await c.status();
        assert.equal(causes?.find(({ cause }) => cause === 'stage')?.count, c.nodes.length - 1);
        const labPassed = await untilStage(c, 'lab', passed, 'is passed');
        assert.ok((labPassed.promotedAt ?? '') >= (soaking.soakUntil ?? '~'));
        await untilStage(c, 'canary', awaits('Approval'), 'awaits an approval');
        assert.deepEqual((await c.updatedNodes()).toSorted(), [lab, first, second].toSorted());
        assert.equal((await c.condition('Reconciling'))?.reason, 'AwaitingApproval');
        await c.untilEvent('StageAwaitsApproval');
        await c.expectNoUpdatesFor(2);
        await decide(c, 'canary');
        await c.untilComplete('app:v2');
        const canary = await stage(c, 'canary');
        assert.equal(canary?.promotedBy, await me(c));
        const recorded = (await c.status()).history?.[0]?.stages ?? [];
        assert.deepEqual(
          recorded.map(({ name, promotion }) => [name, promotion]),
          [
            ['lab', 'Gates'],
            ['canary', 'Gates'],
            ['rest', undefined],
          ],
        );
        const { at, ...decision } = recorded[1]?.decisions?.[0] ?? {};
        assert.deepEqual(decision, { decision: 'Approve', by: await me(c), comment: 'looks good' });
        assert.ok(at);
        assert.equal((await stage(c, 'rest'))?.nodes.updated, others.length);
        await c.until('both are told', async () => (await c.events('StagePassed')).length >= 2);
        assert.equal((await c.events('StagePassed')).length, 2);
      },
      { nodes: 5, budget: 5 },
    );

    rule(
      'an offline node blocks no stage that has others; one of offline nodes only waits, and returns into the open stage',
      async (c) => {
        const [lab = '', away = '', dark = ''] = c.nodes;
        await label(c, { ring: 'lab' }, [lab, away]);
        await label(c, { ring: 'canary' }, [dark]);
        await createPlan(c, { stages: [ring('lab'), ring('canary')] });
        await c.rolledOut({ annotations: wide });
        await c.cluster.offline([away, dark]);
        await c.setImage('app:v2');
        await untilStage(c, 'lab', passed, 'is passed');
        const waiting = await untilStage(c, 'canary', awaits('Coverage'), 'waits');
        assert.match(waiting.awaits?.message ?? '', /come online/);
        await c.expectNoUpdatesFor(2);
        await c.cluster.online([dark]);
        await c.untilRunning(
          'app:v2',
          c.nodes.filter((node) => node !== away),
        );
        await c.cluster.online([away]);
        await c.untilRunning('app:v2');
      },
      { nodes: 5, budget: 5 },
    );

    rule(
      'a sample is drawn once, and a promotion by hand skips the soak',
      async (c) => {
        await createPlan(c, { stages: [{ name: 'canary', nodes: { count: 2 }, promote: { soak: '1h' } }] });
        await c.startRollout('app:v2', { annotations: wide });
        const soaking = await untilStage(c, 'canary', awaits('Soak'), 'soaks');
        const updated = await c.updatedNodes();
        assert.equal(updated.length, 2);
        assert.equal(soaking.nodes.total, 2);
        await c.expectNoUpdatesFor(1);
        await decide(c, 'canary', 'Promote');
        await c.untilRunning('app:v2');
        const found = await stage(c, 'canary');
        assert.deepEqual([found?.promotion, found?.promotedBy], ['ByHand', await me(c)]);
        assert.equal(found?.sample, soaking.sample);
      },
      { nodes: 6, budget: 6 },
    );

    rule(
      'another leader neither shortens nor restarts a soak, and promotes at its end',
      async (c) => {
        const [lab = ''] = c.nodes;
        await label(c, { ring: 'lab' }, [lab]);
        await createPlan(c, { stages: [ring('lab', { soak: '12s' })] });
        const second = await c.startManager({ args: leaderElectionArgs });
        await c.startRollout('app:v2', { annotations: wide });
        const soaking = await untilStage(c, 'lab', awaits('Soak'), 'soaks');
        second.kill();
        await c.startManager({ args: leaderElectionArgs });
        const labPassed = await untilStage(c, 'lab', passed, 'is passed');
        assert.equal(labPassed.soakUntil, soaking.soakUntil);
        const late = Date.parse(labPassed.promotedAt ?? '') - Date.parse(soaking.soakUntil ?? '');
        assert.ok(late >= 0 && late < 10_000, `promoted ${late} ms after the soak`);
        await c.untilRunning('app:v2');
      },
      { nodes: 3, budget: 3, manager: 'none' },
    );

    rule(
      'the revision that was last complete opens all stages at once',
      async (c) => {
        await label(c, { ring: 'lab' }, c.nodes.slice(0, 2));
        await createPlan(c, {
          stages: [ring('lab', { approval: { required: true } })],
        });
        await c.startRollout('app:v2', { annotations: wide });
        await untilStage(c, 'lab', awaits('Approval'), 'awaits an approval');
        await c.bringTo('app:v1');
        assert.equal((await c.status()).rollback, true);
      },
      { nodes: 4, budget: 4 },
    );

    rule(
      'a plan that is missing holds the rollout and says so; nothing begins in a freeze; an edit takes effect',
      async (c) => {
        await c.rolledOut({ annotations: { [budgetKey]: '100%' } });
        await c.annotate({ [planKey]: 'rings' });
        await c.setImage('app:v2');
        const stalled = await c.untilCondition('Stalled');
        assert.equal(stalled.reason, 'InvalidPolicy');
        assert.match(stalled.message, /create the RolloutPlan rings, or remove the annotation/);
        await createPlan(c, { freezes: [{ from: '2000-01-01', to: '2200-01-01', reason: 'holidays' }] });
        await c.untilCondition('Stalled', 'False');
        await c.until('it is frozen', async () => (await c.condition('Ready'))?.reason === 'OutsideWindow');
        assert.match((await c.condition('Ready'))?.message ?? '', /holidays/);
        // Nodes that have just come settle first.
        await c.until('all nodes wait for it', async () =>
          (await c.status()).causes?.some(({ cause, count }) => cause === 'window' && count === 3),
        );
        await c.expectNoUpdatesFor(2);
        await c.api.merge(`${plansPath(c.namespace)}/rings`, {
          spec: { freezes: null, windows: [{ from: '00:00', to: '00:00' }] },
        });
        await c.untilRunning('app:v2');
      },
      { budget: 3 },
    );

    rule(
      'no site loses two nodes at once, whatever the budget is',
      async (c) => {
        const sites = ['a', 'a', 'a', 'b', 'b', 'b'];
        for (const [index, node] of c.nodes.entries()) await label(c, { site: sites[index] ?? '' }, [node]);
        await createPlan(c, { maxUnavailablePer: [{ topologyKey: 'site', value: 1 }] });
        await c.startRollout('app:v2--slow', { annotations: wide });
        const most = new Map<string, number>();
        await c.until('every node is updated', async () => {
          const pods = await c.pods();
          const down = new Map<string, number>();
          for (const [index, node] of c.nodes.entries()) {
            const site = sites[index] ?? '';
            const up = pods.some((pod) => pod.node === node && pod.ready && !pod.terminating);
            if (!up) down.set(site, (down.get(site) ?? 0) + 1);
          }
          for (const [site, count] of down) most.set(site, Math.max(most.get(site) ?? 0, count));
          return pods.length === 6 && pods.every((pod) => pod.image === 'app:v2--slow' && pod.ready);
        });
        assert.deepEqual(Object.fromEntries(most), { a: 1, b: 1 });
      },
      { nodes: 6, budget: 2 },
    );

    rule(
      'a stage that times out is promoted or held, as the plan says; while paused nothing is',
      async (c) => {
        const [lab = '', canary = ''] = c.nodes;
        await label(c, { ring: 'lab' }, [lab]);
        await label(c, { ring: 'canary' }, [canary]);
        await createPlan(c, {
          stages: [
            ring('lab', { soak: '1h', timeout: '2s', onTimeout: 'promote' }),
            ring('canary', { soak: '1h', timeout: '2s' }),
          ],
        });
        await c.startRollout('app:v2', { annotations: { ...wide } });
        const first = await untilStage(c, 'lab', passed, 'is passed');
        assert.equal(first.promotion, 'Timeout');
        await untilStage(c, 'canary', awaits('Timeout'), 'has timed out');
        await c.untilWarning('StageTimedOut');
        await c.annotate({ 'edgeset.io/paused': 'true' });
        await c.untilCondition('Paused');
        await decide(c, 'canary', 'Promote');
        await c.expectNoUpdatesFor(2);
        assert.equal((await stage(c, 'canary'))?.state, 'Open');
        await c.annotate({ 'edgeset.io/paused': 'false' });
        await c.untilRunning('app:v2');
      },
      { budget: 3 },
    );

    rule('with the strategy ota, owners of a closed stage are not asked yet', async (c) => {
      const [lab = ''] = c.nodes;
      await label(c, { ring: 'lab' }, [lab]);
      await createPlan(c, { stages: [ring('lab', { approval: { required: true } })] });
      await c.startRollout('app:v2', { annotations: { [strategyKey]: 'ota', [planKey]: 'rings' } });
      await c.until('one owner is asked, and others are not', async () => {
        const { owners } = await c.status();
        return owners?.asked === 1 && owners.nodes[0] === lab;
      });
      await c.until('the others are staged', async () => {
        const { items } = await c.api.get<{
          items: {
            spec: { nodeName?: string };
            status: { conditions?: { type: string; status: string; reason?: string }[] };
          }[];
        }>(`/api/v1/namespaces/${c.namespace}/pods`);
        return items
          .filter(({ spec }) => spec.nodeName !== lab)
          .every(({ status }) =>
            status.conditions?.some(
              ({ type, status: is, reason }) => type === 'PodNeedUpgrade' && is === 'False' && reason === 'Staged',
            ),
          );
      });
    });

    rule(
      'each node gets the driver first; a DaemonSet that is not managed, or a cycle, holds and is named',
      async (c) => {
        const [slow = ''] = c.nodes;
        await c.create({ name: 'driver', annotations: { [budgetKey]: '100%' } });
        await c.rolledOut({ annotations: { [budgetKey]: '100%' } });
        await c.cluster.behave([slow], { behaviour: 'slow' });
        await createPlan(c, { after: [{ name: 'driver' }] });
        await c.annotate({ [planKey]: 'rings' });
        await c.setImage('driver:v2', 'driver');
        await c.setImage('app:v2');
        await c.until('app waits on the slow node only', async () => {
          const [driver, app] = [await c.pods('driver'), await c.pods()];
          const at = (image: string, pods: typeof app): string[] =>
            pods.filter((pod) => pod.image === image && pod.ready).map(({ node }) => node ?? '');
          const drivers = at('driver:v2', driver);
          for (const node of at('app:v2', app))
            assert.ok(drivers.includes(node), `app was updated before driver on ${node}`);
          return at('app:v2', app).length === 3;
        });

        await createPlan(c, { after: [{ name: 'nothing' }] }, 'lost');
        await c.annotate({ [planKey]: 'lost' });
        await c.setImage('app:v3');
        await c.until(
          'all nodes are held',
          async () => (await c.status()).causes?.find(({ cause }) => cause === 'after')?.count === 3,
        );
        await createPlan(c, { after: [{ name: 'app' }] }, 'back');
        await c.annotate({ [planKey]: 'back' }, 'driver');
        await c.annotate({ [planKey]: 'rings' });
        const stalled = await c.untilCondition('Stalled');
        assert.match(stalled.message, /app after driver after app/);
        await c.annotate({ [planKey]: null }, 'driver');
        await c.untilRunning('app:v3');
      },
      { budget: 3, daemonSets: ['app', 'driver'] },
    );
  },
  { expected: FRESH_CRD },
);
