import assert from 'node:assert/strict';
import { type DaemonRolloutHistory, daemonRolloutCrd } from '../../../src/words/index.ts';
import { type Case, section } from '../kit/index.ts';

/** Sets an image as this client. */
const setImageBy = (c: Case, client: string, image: string): Promise<unknown> =>
  c.api.edit(`/apis/apps/v1/namespaces/${c.namespace}/daemonsets/app?fieldManager=${client}`, [
    { op: 'replace', path: '/spec/template/spec/containers/0/image', value: image },
  ]);

const historyOf = async (c: Case): Promise<DaemonRolloutHistory[]> => (await c.status()).history ?? [];

/** Each rollout as `to the first image: result`, newest first. */
const results = async (c: Case): Promise<string[]> =>
  (await historyOf(c)).map(({ to, result }) => `${to.images[0]}: ${result}`);

const untilResults = (c: Case, ...wanted: string[]): Promise<unknown> =>
  c.until(`the history is ${wanted.join(', ')}`, async () => String(await results(c)) === String(wanted));

const seconds = (from = '', to = ''): number => (Date.parse(to) - Date.parse(from)) / 1_000;

export const history = section('History', (rule) => {
  rule('a rollout is recorded with who changed what, how many nodes, when it began and when it ended', async (c) => {
    const [, , away = ''] = c.nodes;
    await c.rolledOut();
    const [first] = await historyOf(c);
    assert.deepEqual([first?.rollout, first?.result, first?.nodes, first?.from], [1, 'Complete', 0, undefined]);
    await c.cluster.offline([away]);
    await setImageBy(c, 'alice-laptop', 'app:v2');
    await c.untilRunning('app:v2', c.nodes.slice(0, 2));
    await untilResults(c, 'app:v2: Complete', 'app:v1: Complete');
    const [online] = await historyOf(c);
    assert.deepEqual([online?.nodes, online?.allNodesUpdatedAt], [2, undefined]);

    await c.cluster.online([away]);
    await c.untilRunning('app:v2');
    const entry = await c.until('every node has it', async () =>
      (await historyOf(c)).find(({ rollout, allNodesUpdatedAt: at }) => rollout === 2 && at !== undefined),
    );
    const { target, startedAt, finishedAt, allNodesUpdatedAt } = await c.status();
    assert.deepEqual(entry.from, first?.to);
    assert.deepEqual(entry.to, { ...target, images: ['app:v2'] });
    assert.deepEqual([entry.result, entry.nodes, entry.failures], ['Complete', 3, 0]);
    assert.deepEqual(
      [entry.startedAt, entry.finishedAt, entry.allNodesUpdatedAt],
      [startedAt, finishedAt, allNodesUpdatedAt],
    );
    const { manager, operation, time } = entry.changedBy ?? {};
    assert.deepEqual([manager, operation], ['alice-laptop', 'Update']);
    assert.ok(Math.abs(seconds(time, entry.startedAt)) < 20, `set at ${time}, began at ${entry.startedAt}`);
    assert.equal(entry.endedAt, undefined);
  });

  rule(
    'one that the next edit replaces is superseded, and keeps its numbers',
    async (c) => {
      await c.startRollout('app:v2', { podAnnotations: { 'sim.edgeset.io/start-ms': '1500' } });
      await c.untilUpdates(1);
      await c.setImage('app:v3');
      await c.untilRunning('app:v3');
      await untilResults(c, 'app:v3: Complete', 'app:v2: Superseded', 'app:v1: Complete');
      const [next, superseded] = await historyOf(c);
      assert.ok((superseded?.nodes ?? 0) >= 1);
      assert.equal(superseded?.finishedAt, undefined);
      assert.equal(superseded?.endedAt, next?.startedAt);
    },
    { nodes: 4 },
  );

  rule('one that failed is halted, and undone once an earlier template is set again', async (c) => {
    await c.rolledOut();
    await setImageBy(c, 'pipeline', 'app:v2--crash-loop');
    await untilResults(c, 'app:v2--crash-loop: Halted', 'app:v1: Complete');
    await setImageBy(c, 'alice-laptop', 'app:v1');
    await c.untilRunning('app:v1');
    await untilResults(c, 'app:v1: Complete', 'app:v2--crash-loop: Undone', 'app:v1: Complete');
    const [undo, failed] = await historyOf(c);
    assert.deepEqual([failed?.failures, failed?.changedBy?.manager], [1, 'pipeline']);
    assert.ok(failed?.haltedAt);
    assert.equal(undo?.changedBy?.manager, 'alice-laptop');
  });

  rule('a rollback by the manager is recorded as its own change', async (c) => {
    await c.startRollout('app:v2--crash-loop', { annotations: { 'edgeset.io/on-failure': 'rollback' } });
    await c.until('it is rolled back', async () => (await results(c)).length === 3);
    await c.untilRunning('app:v1');
    await untilResults(c, 'app:v1: Complete', 'app:v2--crash-loop: RolledBack', 'app:v1: Complete');
    assert.equal((await historyOf(c))[0]?.changedBy?.manager, 'edgeset-manager');
  });

  rule('with the strategy ota, a rollout lasts until all owners have agreed', async (c) => {
    await c.startRollout('app:v2', { annotations: { 'apps.openyurt.io/update-strategy': 'ota' } });
    await untilResults(c, 'app:v2: InProgress', 'app:v1: Complete');
    for (const { name } of await c.pods()) await c.api.remove(`/api/v1/namespaces/${c.namespace}/pods/${name}`);
    await c.untilRunning('app:v2');
    await untilResults(c, 'app:v2: Complete', 'app:v1: Complete');
    assert.equal((await historyOf(c))[0]?.nodes, 3);
  });

  rule(
    'kubectl explain describes every field of it',
    async (c) => {
      const [version] = daemonRolloutCrd.spec.versions;
      const { items } = version?.schema.openAPIV3Schema.properties.status.properties?.history ?? {};
      // The API server serves the schema of a new CRD a moment after the CRD.
      const explained = await c.until('it is served', () =>
        c.kubectl(['explain', 'daemonrollouts.status.history']).catch(() => undefined),
      );
      const text = explained.replaceAll(/\s+/g, ' ');
      for (const [field, { description }] of Object.entries(items?.properties ?? {}))
        assert.ok(text.includes(description), `${field}: ${text}`);
    },
    { nodes: 1, manager: 'none' },
  );

  rule(
    'the last twenty rollouts are kept',
    async (c) => {
      await c.rolledOut();
      for (let version = 2; version <= 22; version += 1) {
        await c.setImage(`app:v${version}`);
        await c.until(`v${version} is the target`, async () => (await c.status()).rollout === version, 20_000, 50);
      }
      await c.untilRunning('app:v22');
      await c.until('it is complete', async () => (await results(c))[0] === 'app:v22: Complete');
      assert.deepEqual(
        (await historyOf(c)).map(({ rollout }) => rollout),
        Array.from({ length: 20 }, (_, index) => 22 - index),
      );
    },
    { nodes: 1 },
  );

  rule(
    'another leader continues the entry of a rollout that it finds',
    async (c) => {
      await c.rolledOut({ podAnnotations: { 'sim.edgeset.io/start-ms': '1500' } });
      await setImageBy(c, 'alice-laptop', 'app:v2');
      await c.untilUpdates(1);
      const [before] = await c.until('it is recorded', async () => {
        const entries = await historyOf(c);
        return entries.length === 2 && entries;
      });
      c.manager.kill('SIGKILL');
      await c.startManager();
      await c.untilRunning('app:v2');
      await untilResults(c, 'app:v2: Complete', 'app:v1: Complete');
      const [after] = await historyOf(c);
      const { from, to, changedBy, startedAt, rollout } = after ?? {};
      assert.deepEqual(
        { from, to, changedBy, startedAt, rollout },
        {
          from: before?.from,
          to: before?.to,
          changedBy: before?.changedBy,
          startedAt: before?.startedAt,
          rollout: before?.rollout,
        },
      );
      assert.equal(after?.nodes, 4);
    },
    { nodes: 4 },
  );
});
