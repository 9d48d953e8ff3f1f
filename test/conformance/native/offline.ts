import assert from 'node:assert/strict';
import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { type Case, section } from '../kit/index.ts';

/** When the node became Ready last, by the API server's clock. */
const readySince = async (c: Case, name: string): Promise<number> => {
  let ready = false;
  let since = 0;
  for (const record of await c.cluster.audit.read()) {
    if (record.name !== name || !record.resource.startsWith('nodes') || record.code >= 300) continue;
    const { conditions } = (record.response as Node).status ?? {};
    const now = conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    // A watch may deliver it before the answer is logged.
    if (now && !ready) since = record.receivedAt;
    ready = now;
  }
  return since;
};

export const offline = section('Offline nodes', (rule) => {
  rule('they are skipped, reported separately, and updated when they are back', async (c) => {
    const [away = '', ...others] = c.nodes;
    await c.rolledOut();
    await c.cluster.offline([away]);
    const { uid } = await c.podOn(away);
    await c.setImage('app:v2');
    await c.untilComplete('app:v2', others);
    const { nodes, summary } = await c.status();
    assert.equal(nodes?.offline, 1);
    assert.equal(nodes?.offlineOutdated, 1);
    assert.equal(summary, 'Complete (1 offline)');
    assert.equal((await c.podOn(away)).uid, uid);
    assert.equal((await c.condition('AllNodesUpdated'))?.reason, 'OfflineNodesOutdated');
    assert.deepEqual(
      (await c.status()).stragglers?.map(({ node }) => node),
      [away],
    );

    await c.cluster.online([away]);
    await c.untilCondition('Complete', 'False');
    await c.untilComplete('app:v2');
    await c.untilCondition('AllNodesUpdated');
    const last = await c.untilEvent('AllNodesUpdated');
    assert.match(last.note ?? '', /^3 of 3 nodes have app-\S+, offline nodes included\.$/);
    assert.ok((last.deprecatedLastTimestamp ?? '') !== '', 'kubectl describe sorts by it');
    assert.deepEqual((await c.status()).stragglers, []);
  });

  rule(
    'a node that has come back is not updated for the settle time, ten seconds by default, and soon after it',
    async (c) => {
      const [away = '', other = ''] = c.nodes;
      await c.rolledOut({ annotations: { 'edgeset.io/settle-seconds': null } });
      await c.cluster.offline([away]);
      await c.setImage('app:v2');
      await c.untilRunning('app:v2', [other]);
      await c.cluster.online([away]);
      await c.until('it is settling', async () => (await c.status()).nodes?.settling === 1);
      await c.untilRunning('app:v2');
      const act = (await c.updates()).at(-1);
      const waited = (act?.receivedAt ?? 0) - (await readySince(c, away));
      assert.ok(waited >= 9_900, `acted ${waited} ms after the return`);
      assert.ok(waited <= 20_000, `acted only ${waited} ms after the return`);
    },
    { nodes: 2 },
  );

  rule(
    'the settle time also applies to a broken pod',
    async (c) => {
      const [away = '', other = ''] = c.nodes;
      await c.rolledOut({ annotations: { 'edgeset.io/settle-seconds': '5' } });
      await c.breakPod(away);
      await c.cluster.offline([away]);
      await c.setImage('app:v2');
      await c.untilRunning('app:v2', [other]);
      await c.cluster.online([away]);
      await c.untilRunning('app:v2');
      const waited = ((await c.updates()).at(-1)?.receivedAt ?? 0) - (await readySince(c, away));
      assert.ok(waited >= 4_900, `acted ${waited} ms after the return`);
    },
    { nodes: 2 },
  );

  rule(
    'the settle time does not apply to a node that was ready long before the initial sync',
    async (c) => {
      await c.create({ annotations: { 'edgeset.io/settle-seconds': '15' } });
      await c.untilRunning('app:v1');
      await c.setImage('app:v2');
      const [node = ''] = c.nodes;
      const since = await readySince(c, node);
      await c.until('the node has been ready for long', () => Date.now() > since + 17_000);
      const manager = await c.startManager();
      const startedAt = Date.now();
      const act = await c.until('the act', async () => (await c.updates())[0]);
      assert.ok(act.receivedAt - startedAt < 14_000, `${act.receivedAt - startedAt} ms after its start`);
      await c.untilRunning('app:v2');
      assert.equal(manager.user, act.user);
    },
    { nodes: 1, manager: 'none' },
  );

  for (const [moment, podAnnotations] of [
    ['while its old pod terminates', { 'sim.edgeset.io/stop-ms': '3000' }],
    ['while its new pod starts', { 'sim.edgeset.io/start-ms': '3000' }],
  ] as const) {
    rule(`one that goes offline ${moment} does not block the others, and is updated in the end`, async (c) => {
      await c.startRollout('app:v2', { podAnnotations });
      await c.until('the first act', async () => (await c.updates()).length === 1);
      const [away = ''] = await c.updatedNodes();
      if (moment === 'while its new pod starts')
        await c.until('the new pod is there', async () => (await c.podOn(away)).image === 'app:v2');
      await c.cluster.offline([away]);
      const others = c.nodes.filter((name) => name !== away);
      await c.untilRunning('app:v2', others);
      await c.until('it is a suspect', async () => (await c.status()).breaker?.suspects === 1);
      await c.cluster.online([away]);
      await c.untilComplete('app:v2');
      assert.equal((await c.status()).breaker?.suspects, 0);
    });
  }

  rule(
    'one that goes offline before its turn is skipped',
    async (c) => {
      await c.rolledOut({ podAnnotations: { 'sim.edgeset.io/start-ms': '2000' } });
      const next = c.nodes[3] ?? '';
      await c.annotate({ 'edgeset.io/partition': '2' });
      await c.setImage('app:v2');
      await c.cluster.offline([c.nodes[0] ?? '']);
      await c.annotate({ 'edgeset.io/partition': null });
      await c.untilComplete('app:v2', c.nodes.slice(1));
      assert.ok((await c.updatedNodes()).includes(next));
      assert.equal((await c.updates()).length, 3);
    },
    { nodes: 4 },
  );
});
