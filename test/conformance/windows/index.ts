import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { budgetKey, type Case, type CaseKind, type Rule, type Shape, section } from '../kit/index.ts';
import { createPlan, FRESH_CRD, planKey, plansPath } from '../kit/plans.ts';
import { edgeset, untilExplained, untilSaid } from '../plugin/run.ts';
import { holidays, nextMinute, windowAt, windowFrom, windowUntil, zoneAtMidnight } from './times.ts';

const ALWAYS: RolloutPlanSpec['windows'] = [{ from: '00:00', to: '00:00' }];
const CLOSED = /No window of the rollout plan is open until \S+Z\. To update now, change the windows of the plan\./;
const FROZEN =
  /A freeze of the rollout plan forbids updates until \S+Z \(holidays\)\. To update now, change the freezes of the plan\./;
/** Of a manager whose clock is off. */
const CLOCK = /clock/;
const ZONE_KEY = 'edgeset.io/time-zone';
const SLOW = 'app:v2--slow';

const edit = (c: Case, spec: Partial<Record<keyof RolloutPlanSpec, unknown>>): Promise<unknown> =>
  c.api.merge(`${plansPath(c.namespace)}/rings`, { spec });

const setZone = (c: Case, node: string, zone: string): Promise<unknown> =>
  c.api.merge(`/api/v1/nodes/${node}`, { metadata: { annotations: { [ZONE_KEY]: zone } } });

/** What people look at says of these nodes, and no others, that they wait, and why. */
const saysWhy = async (
  c: Case,
  nodes: readonly string[],
  why: RegExp,
  summary = 'Waiting for a window',
): Promise<void> => {
  await c.until(`the conditions say ${why}`, async () => {
    const all = (await c.status()).conditions ?? [];
    return ['Ready', 'Reconciling'].every((type) =>
      all.some((one) => one.type === type && one.reason === 'OutsideWindow' && why.test(one.message)),
    );
  });
  assert.equal((await c.condition('Ready'))?.status, 'False');
  await c.until(`${nodes.length} nodes are held`, async () => {
    const { causes } = await c.status();
    return causes?.find(({ cause }) => cause === 'window')?.count === nodes.length;
  });
  await untilSaid(c, new RegExp(`app +${summary}`), 'status', 'app');
  await untilSaid(c, why, 'explain', 'app');
  for (const node of nodes) await untilExplained(c, node, 'held (window)', why);
  const { stdout } = await edgeset(c, 'plan', 'app');
  assert.match(stdout, why);
  assert.match(stdout, new RegExp(`held back: .*\\b${nodes.length} until a window opens or a freeze ends`));
};

/** Resolves with the nodes that were updated before the window closed, once nothing is under way. */
const untilClosed = async (c: Case): Promise<string[]> => {
  await c.until('the window is closed, and no update under way', async () => {
    const { conditions, nodes } = await c.status();
    const ready = conditions?.find(({ type }) => type === 'Ready');
    return ready?.reason === 'OutsideWindow' && nodes?.updating === 0;
  });
  const updated = await c.updatedNodes();
  assert.ok(updated.length > 0 && updated.length < c.nodes.length, 'it closes before all nodes are updated');
  return updated;
};

/** Windows and freezes of a plan, for one kind of DaemonSet, by the time of the process that is shipped. */
export const windowRules = (kind: CaseKind): Rule[] => {
  const shape = (budget: 1 | '100%'): Shape => ({
    annotations: { [planKey]: 'rings', ...(kind === 'native' && { [budgetKey]: String(budget) }) },
    ...(kind === 'advanced' && { rollingUpdate: { maxUnavailable: budget } }),
  });
  const all = shape('100%');

  return section(
    'Windows and freezes',
    (rule) => {
      rule(
        'a window opens on the minute, by the clocks of its time zone',
        async (c) => {
          const opensAt = nextMinute(40);
          await createPlan(c, { windows: [windowFrom(opensAt, 'Europe/Berlin')] });
          await c.startRollout('app:v2', all);
          await saysWhy(c, c.nodes, CLOSED);
          assert.deepEqual(await c.updates(), []);
          // It may be 100 s away.
          await c.untilUpdates(c.nodes.length, opensAt - Date.now() + 60_000);
          const late = (await c.updates()).map(({ receivedAt }) => receivedAt - opensAt);
          assert.ok(
            late.every((ms) => ms > -500 && ms < 20_000),
            `updates began ${late.join(', ')} ms after it opened`,
          );
          await c.untilRunning('app:v2');
        },
        { budget: 3 },
      );

      rule(
        'a window closes on the minute: what has begun ends, and nothing else begins',
        async (c) => {
          const closesAt = nextMinute(35);
          await createPlan(c, { windows: [windowUntil(closesAt, 'America/New_York')] });
          await c.rolledOut({ ...shape(1), podAnnotations: { 'sim.edgeset.io/start-ms': '4000' } });
          await sleep(Math.max(0, closesAt - 10_000 - Date.now()));
          await c.setImage('app:v2');
          await c.untilUpdates(1);
          await sleep(Math.max(0, closesAt + 1_000 - Date.now()));
          const updated = await untilClosed(c);
          await c.untilRunning('app:v2', updated);
          await saysWhy(
            c,
            c.nodes.filter((node) => !updated.includes(node)),
            CLOSED,
          );
          assert.deepEqual(await c.updatedNodes(), updated);
        },
        { nodes: 5, budget: 1 },
      );

      rule(
        'each node has its window at its own time, and follows its annotation',
        async (c) => {
          const [tokyo = '', phoenix = '', utc = '', nowhere = ''] = c.nodes;
          await setZone(c, tokyo, 'Asia/Tokyo');
          await setZone(c, phoenix, 'America/Phoenix');
          await setZone(c, nowhere, 'Nowhere/Land');
          await createPlan(c, { windows: [{ ...windowAt(-60, 60, 'Asia/Tokyo'), timeZone: 'node' }] });
          await c.startRollout('app:v2', all);
          await c.untilRunning('app:v2', [tokyo]);
          await saysWhy(c, [phoenix, utc, nowhere], CLOSED);
          const until = async (node: string): Promise<string | undefined> =>
            / open until (\S+)\./.exec(await untilExplained(c, node, 'held (window)', CLOSED))?.[1];
          assert.equal(await until(utc), await until(nowhere));
          // Tokyo is nine hours ahead of UTC, and that is seven hours ahead of Phoenix.
          const apart = Date.parse((await until(phoenix)) ?? '') - Date.parse((await until(utc)) ?? '');
          assert.equal(apart, 7 * 3_600_000);
          assert.deepEqual(await c.updatedNodes(), [tokyo]);
          await setZone(c, phoenix, 'Asia/Tokyo');
          await c.untilRunning('app:v2', [phoenix]);
          await c.expectNoUpdatesFor(2);
          const { freeze, holds } = holidays();
          await edit(c, { windows: null, freezes: [freeze] });
          await saysWhy(c, [utc, nowhere], holds, 'Frozen by the plan');
          await edit(c, { windows: [{ ...windowAt(-60, 60), timeZone: 'node' }] });
          await saysWhy(c, [utc, nowhere], FROZEN, 'Frozen by the plan');
          await edit(c, { freezes: null });
          await c.untilRunning('app:v2');
        },
        { nodes: 4, budget: 4 },
      );

      rule(
        'past midnight, a window belongs to the day on which it opened',
        async (c) => {
          const { timeZone, today, yesterday } = zoneAtMidnight();
          const night = { from: '23:00', to: '02:00', timeZone };
          await createPlan(c, { windows: [{ ...night, days: [today] }] });
          await c.startRollout('app:v2', all);
          await saysWhy(c, c.nodes, CLOSED);
          await c.expectNoUpdatesFor(2);
          await edit(c, { windows: [{ ...night, days: [yesterday] }] });
          await c.untilComplete('app:v2');
        },
        { budget: 3 },
      );

      rule(
        'an edit midway closes and opens, also beside a freeze',
        async (c) => {
          await createPlan(c, { windows: [windowAt(-60, 60)] });
          await c.startRollout(SLOW, shape(1));
          await c.untilUpdates(1);
          await edit(c, { windows: [windowAt(120, 180)] });
          const updated = await untilClosed(c);
          await c.untilRunning(SLOW, updated);
          const rest = c.nodes.filter((node) => !updated.includes(node));
          await saysWhy(c, rest, CLOSED);
          const { freeze, holds } = holidays();
          await edit(c, { windows: [windowAt(-60, 60)], freezes: [freeze] });
          await saysWhy(c, rest, FROZEN, 'Frozen by the plan');
          await edit(c, { windows: null });
          await saysWhy(c, rest, holds, 'Frozen by the plan');
          assert.deepEqual(await c.updatedNodes(), updated);
          await edit(c, { freezes: [{ from: '2000-01-01', to: '2000-01-02' }] });
          await c.untilRunning(SLOW);
        },
        { nodes: 5, budget: 1 },
      );

      for (const windowsOnRollback of [false, true])
        rule(
          windowsOnRollback
            ? 'with windowsOnRollback, the way back is held, too'
            : 'the way back to what was last complete begins at once',
          async (c) => {
            await createPlan(c, { windows: ALWAYS, windowsOnRollback });
            await c.startRollout(SLOW, shape(1));
            await c.untilUpdates(1);
            await edit(c, { windows: [windowAt(120, 180)] });
            const updated = await untilClosed(c);
            await c.setImage('app:v1');
            if (windowsOnRollback) {
              await saysWhy(c, updated, CLOSED);
              await c.expectNoUpdatesFor(2);
              await edit(c, { windows: [windowAt(-60, 60)] });
            }
            await c.untilComplete('app:v1');
            assert.equal((await c.status()).rollback, true);
          },
          { nodes: 5, budget: 1 },
        );

      rule(
        'a node waits for another DaemonSet first, and then for its window',
        async (c) => {
          const driver = `/apis/apps/v1/namespaces/${c.namespace}/daemonsets/driver`;
          // Paused, so that only the case replaces its pods.
          const paused = { [budgetKey]: '100%', 'edgeset.io/paused': 'true' };
          await c.create({ name: 'driver', annotations: paused }, 'native');
          await createPlan(c, { windows: [windowAt(120, 180)], after: [{ name: 'driver' }] });
          await c.rolledOut(all);
          await c.api.patch(driver, {
            spec: { template: { spec: { containers: [{ name: 'app', image: 'driver:v2' }] } } },
          });
          await c.setImage('app:v2');
          await c.until('all nodes wait for the driver', async () => {
            const { causes } = await c.status();
            return causes?.find(({ cause }) => cause === 'after')?.count === c.nodes.length;
          });
          await untilExplained(c, c.nodes[0] ?? '', 'held (after)', /waits for DaemonSet driver/);
          for (const { name } of await c.pods('driver'))
            await c.api.remove(`/api/v1/namespaces/${c.namespace}/pods/${name}`);
          await saysWhy(c, c.nodes, CLOSED);
          assert.ok((await c.pods('driver')).every(({ image }) => image === 'driver:v2'));
          assert.ok((await c.pods()).every(({ image }) => image === 'app:v1'));
          await edit(c, { windows: [windowAt(-60, 60)] });
          await c.untilRunning('app:v2');
        },
        { budget: 3 },
      );

      for (const [what, minutes, from, to] of [
        ['ahead', 10, 5, 20],
        ['behind', -10, -15, -5],
      ] as const)
        rule(
          `a manager whose clock is ten minutes ${what} goes by the time of the API server`,
          async (c) => {
            await c.startManager({ clockAheadMs: minutes * 60_000 });
            // Open by the clock of the manager.
            await createPlan(c, { windows: [windowAt(from, to)] });
            await c.startRollout('app:v2', all);
            await saysWhy(c, c.nodes, CLOSED);
            await c.expectNoUpdatesFor(2);
            // Closed by it.
            await edit(c, { windows: [windowAt(-3, 5)] });
            await c.untilRunning('app:v2');
          },
          { budget: 3, manager: 'none', expected: new RegExp(`${FRESH_CRD.source}|${CLOCK.source}`) },
        );
    },
    { kind, expected: FRESH_CRD },
  );
};
