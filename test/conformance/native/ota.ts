import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { refusePods, section, strategyKey } from '../kit/index.ts';
import { announcements, byOwner, ota, sayings, untilSaid, writesAtRest } from './ota-kit.ts';

const UP_TO_DATE = 'False UpToDate';
const NEW = 'True NewRevision';

export const announcing = section('OTA', (rule) => {
  rule('every pod gets one announcement per revision: outdated, current, reverted and new ones', async (c) => {
    await c.rolledOut({ annotations: ota });
    await untilSaid(c, [UP_TO_DATE, UP_TO_DATE, UP_TO_DATE]);
    await c.setImage('app:v2');
    await untilSaid(c, [NEW, NEW, NEW]);
    assert.equal((await announcements(c)).length, 6);
    const waiting = await c.untilCondition('Reconciling', 'False');
    assert.equal(waiting.reason, 'OwnerDecides');
    const { summary, owners } = await c.status();
    assert.deepEqual([summary, owners], ['Waiting for 3 owners', { asked: 3, nodes: [...c.nodes] }]);

    await byOwner(c, c.nodes[1]);
    await c.untilRunning('app:v2', c.nodes.slice(1, 2));
    await untilSaid(c, [NEW, UP_TO_DATE, NEW]);
    await c.addNodes([`${c.namespace}-x`]);
    await c.untilRunning('app:v2', [`${c.namespace}-x`]);
    await untilSaid(c, [NEW, UP_TO_DATE, NEW, UP_TO_DATE]);
    assert.equal((await c.condition('Complete'))?.status, 'False');

    await c.setImage('app:v1');
    await untilSaid(c, [UP_TO_DATE, NEW, UP_TO_DATE, NEW]);
    await byOwner(c, c.nodes[1], `${c.namespace}-x`);
    await c.untilComplete('app:v1', [...c.nodes, `${c.namespace}-x`]);
    await untilSaid(c, [UP_TO_DATE, UP_TO_DATE, UP_TO_DATE, UP_TO_DATE]);
    // Three pods and four; two and one more that came at v2; then four, and two that came at v1.
    assert.equal((await announcements(c)).length, 3 + 3 + 2 + 4 + 2);
    assert.deepEqual(await c.updates(), []);
  });

  rule(
    'the other conditions stay as they are, and times move with the status',
    async (c) => {
      await c.rolledOut({ annotations: ota });
      const path = async (): Promise<string> =>
        `/api/v1/namespaces/${c.namespace}/pods/${(await c.podOn(c.nodes[0])).name}`;
      const conditions = async () => (await c.api.get<Pod>(await path())).status?.conditions ?? [];
      await untilSaid(c, [UP_TO_DATE]);
      const before = await conditions();
      await c.api.patch(`${await path()}/status`, {
        status: { conditions: [{ type: 'example.org/Own', status: 'True', reason: 'Mine' }] },
      });
      await c.setImage('app:v2');
      await untilSaid(c, [NEW]);
      const after = await conditions();
      const others = (list: typeof after) =>
        list.filter(({ type }) => type !== 'PodNeedUpgrade').map(({ type }) => type);
      assert.deepEqual(others(after).toSorted(), [...others(before), 'example.org/Own'].toSorted());
      await c.setImage('app:v3');
      await untilSaid(c, [NEW]);
      const timeOf = (list: typeof after) => list.find(({ type }) => type === 'PodNeedUpgrade')?.lastTransitionTime;
      assert.equal(timeOf(await conditions()), timeOf(after), 'True before and after');
    },
    { nodes: 1 },
  );

  rule('pods on offline nodes are announced, too; the rollout is complete when all others are updated', async (c) => {
    await c.rolledOut({ annotations: ota });
    await c.cluster.offline(c.nodes.slice(2));
    await c.setImage('app:v2');
    await untilSaid(c, [NEW, NEW, NEW]);
    await byOwner(c, c.nodes[0], c.nodes[1]);
    await c.untilRunning('app:v2', c.nodes.slice(0, 2));
    const complete = await c.untilCondition('Complete');
    assert.match(complete.message, /1 owner is asked/);
    assert.equal((await c.status()).summary, 'Complete (1 offline)');
    await c.cluster.online(c.nodes.slice(2));
    await c.untilCondition('Complete', 'False');
    await c.until('its owner is awaited', async () => (await c.status()).summary === 'Waiting for 1 owner');
  });

  rule('removing the annotation removes the condition and nothing else', async (c) => {
    await c.startRollout('app:v2', { annotations: ota });
    await untilSaid(c, [NEW, NEW, NEW]);
    await c.annotate({ [strategyKey]: null });
    await untilSaid(c, ['nothing', 'nothing', 'nothing']);
    for (const pod of await c.pods()) assert.ok(pod.ready, `${pod.name} has its other conditions`);
    await c.until('the rollout object says so', async () => (await c.status()).summary === 'Not managed');
    assert.deepEqual(await writesAtRest(c, 3), []);
    await c.annotate(ota);
    await untilSaid(c, [NEW, NEW, NEW]);
  });

  rule('so does removing it while no manager runs', async (c) => {
    await c.startRollout('app:v2', { annotations: ota });
    await untilSaid(c, [NEW, NEW, NEW]);
    await c.manager.stop();
    await c.annotate({ [strategyKey]: null });
    await c.startManager();
    await untilSaid(c, ['nothing', 'nothing', 'nothing']);
  });

  rule(
    'changing ota to auto removes the condition and rolls out; auto to ota midway releases reservations',
    async (c) => {
      const slow = { podAnnotations: { 'sim.edgeset.io/start-ms': '1500' } };
      await c.startRollout('app:v2', { ...slow, annotations: { 'apps.openyurt.io/max-unavailable': '1' } });
      await c.untilUpdates(1);
      await c.annotate(ota);
      await c.until('the others are asked', async () => ((await c.status()).owners?.asked ?? 0) >= 2);
      await c.expectNoUpdatesFor(3);
      assert.ok((await c.updates()).length <= 2, 'no more than what was under way');
      await c.until('what was deleted is back', async () => (await c.status()).nodes?.updating === 0);
      const updated = await c.running('app:v2');
      const expected = c.nodes.map((node) => (updated.includes(node) ? UP_TO_DATE : NEW));
      await untilSaid(c, expected);
      await c.annotate({ [strategyKey]: 'auto' });
      await c.untilRunning('app:v2');
      await untilSaid(c, ['nothing', 'nothing', 'nothing', 'nothing']);
    },
    { nodes: 4 },
  );

  rule(
    'an invalid policy leaves announcements unchanged, and reports that nothing is updated',
    async (c) => {
      await c.rolledOut({ annotations: ota });
      await untilSaid(c, [UP_TO_DATE, UP_TO_DATE]);
      await c.annotate({ 'edgeset.io/ota-deadline': 'tomorrow' });
      const stalled = await c.untilCondition('Stalled');
      assert.match(stalled.message, /edgeset\.io\/ota-deadline "tomorrow" is not a time: set a time with its zone/);
      const hash = (await c.status()).target?.hash;
      await c.setImage('app:v2');
      await c.expectNoUpdatesFor(2);
      assert.deepEqual(
        (await c.pods()).map(
          ({ object }) => object.status?.conditions?.find(({ type }) => type === 'PodNeedUpgrade')?.message,
        ),
        [`controllerrevision: ${hash}`, `controllerrevision: ${hash}`],
      );
      await c.annotate({ 'edgeset.io/ota-deadline': '2040-01-01T00:00:00Z', 'edgeset.io/ota-deadline-spread': '30m' });
      await untilSaid(c, [NEW, NEW]);
      await c.until('the deadline is told', async () => {
        const { deadline, deadlineSpreadSeconds } = (await c.status()).owners ?? {};
        return deadline === '2040-01-01T00:00:00Z' && deadlineSpreadSeconds === 1800;
      });
    },
    { nodes: 2 },
  );

  rule(
    'one pod whose patch is refused does not block the rest, and is reported once',
    async (c) => {
      const [away = ''] = c.nodes;
      await c.rolledOut({ annotations: ota });
      await untilSaid(c, [UP_TO_DATE, UP_TO_DATE, UP_TO_DATE, UP_TO_DATE]);
      const said = "object.status.conditions.exists(c, c.type == 'PodNeedUpgrade' && c.status == 'True')";
      const lift = await refusePods(c, {
        operation: 'UPDATE',
        subresource: 'status',
        expression: `object.spec.nodeName != '${away}' || !${said}`,
        message: 'not on this node',
      });
      const before = (await announcements(c)).length;
      await c.setImage('app:v2');
      await c.until('the others are told', async () => (await sayings(c)).filter((text) => text === NEW).length === 3);
      const event = await c.untilWarning('FailedAnnounce');
      assert.match(event.note ?? '', /not on this node/);
      await c.until('it is tried again', async () => (await announcements(c)).length >= before + 6);
      assert.equal((await c.events('FailedAnnounce')).length, 1);
      assert.equal((await c.condition('Reconciling'))?.status, 'True');
      await lift();
      await untilSaid(c, [NEW, NEW, NEW, NEW], 60_000);
      await c.untilCondition('Reconciling', 'False');
    },
    { nodes: 4, refusals: true, expected: /failed to write condition PodNeedUpgrade/ },
  );

  rule(
    'pods that the policy keeps on the old revision are not offered an update, and their conditions say why',
    async (c) => {
      await c.startRollout('app:v2', { annotations: { ...ota, 'edgeset.io/partition': '2' } });
      await untilSaid(c, ['False Partition', 'False Partition', NEW]);
      await byOwner(c, c.nodes[2]);
      await untilSaid(c, ['False Partition', 'False Partition', UP_TO_DATE]);
      await c.until('it rests', async () => (await c.status()).summary === '2 left on old revision');
      await c.annotate({ 'edgeset.io/partition': null, 'edgeset.io/node-selector': 'canary=yes' });
      await untilSaid(c, ['False NodeSelector', 'False NodeSelector', UP_TO_DATE]);
      await c.annotate({ 'edgeset.io/node-selector': null, 'edgeset.io/paused': 'true' });
      await untilSaid(c, ['False Paused', 'False Paused', UP_TO_DATE]);
      await c.untilCondition('Paused');
      await c.annotate({ 'edgeset.io/paused': null });
      await untilSaid(c, [NEW, NEW, UP_TO_DATE]);
    },
  );

  rule('nothing is written at rest, nor by a restarted manager', async (c) => {
    await c.startRollout('app:v2', { annotations: ota });
    await untilSaid(c, [NEW, NEW, NEW]);
    assert.deepEqual(await writesAtRest(c, 8), []);
    await c.manager.stop();
    const since = (await c.calls()).length;
    const second = await c.startManager();
    await c.until('it is ready', async () => (await fetch(`${second.probes}/readyz`)).ok);
    await c.expectNoUpdatesFor(5);
    const written = (await c.calls()).slice(since).filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
    assert.deepEqual(
      written.map(({ verb, resource }) => `${verb} ${resource}`),
      [],
    );
  });

  rule(
    'pods without an owner, or with another one, are not touched',
    async (c) => {
      await c.rolledOut({ annotations: ota });
      const stray = {
        metadata: { name: 'stray', labels: { app: 'app' } },
        spec: { nodeName: c.nodes[0], containers: [{ name: 'app', image: 'app:v1' }] },
      };
      const path = `/api/v1/namespaces/${c.namespace}/pods`;
      await c.api.create(path, stray);
      await c.setImage('app:v2');
      await c.until('the owned pod is told', async () => (await sayings(c)).includes(NEW));
      await c.annotate({ [strategyKey]: null });
      await c.until('and told no more', async () => !(await sayings(c)).includes(NEW));
      const touched = (await announcements(c)).filter(({ name }) => name === 'stray');
      assert.deepEqual(touched, []);
    },
    { nodes: 1 },
  );
});
