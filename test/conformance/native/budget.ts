import assert from 'node:assert/strict';
import { budgetKey, type Case, section } from '../kit/index.ts';

const slow = { 'sim.edgeset.io/start-ms': '3000' };

/** The first wave takes this many nodes, and no further one while they are down. */
const untilWaveOf = async (c: Case, size: number): Promise<void> => {
  await c.until(`${size} acts`, async () => (await c.updates()).length >= size);
  const first = await c.updates();
  assert.equal(first.length, size);
  const { budget } = await c.status();
  assert.equal(budget?.nodes, size);
  const later = await c.until('one more act', async () => (await c.updates())[size]);
  const waited = later.receivedAt - (first[0]?.receivedAt ?? 0);
  assert.ok(waited > 2_500, `the next act came ${waited} ms after the first, before a node was well`);
};

export const budget = section('Budget', (rule) => {
  for (const [value, nodes, size] of [
    ['1', 3, 1],
    ['3', 5, 3],
    ['10%', 11, 2],
    ['34%', 3, 2],
  ] as const) {
    rule(
      `${value} of ${nodes} nodes is ${size} at a time`,
      async (c) => {
        await c.startRollout('app:v2', { annotations: { [budgetKey]: value }, podAnnotations: slow });
        await untilWaveOf(c, size);
        if (nodes < 10) await c.untilRunning('app:v2');
      },
      { nodes },
    );
  }

  rule(
    '10 % is the default',
    async (c) => {
      await c.startRollout('app:v2', { podAnnotations: slow });
      await untilWaveOf(c, 2);
      assert.equal((await c.status()).budget?.maxUnavailable, '10%');
    },
    { nodes: 11 },
  );

  rule(
    '100 % updates all nodes at once',
    async (c) => {
      await c.startRollout('app:v2', {
        annotations: { [budgetKey]: '100%', 'edgeset.io/first-wave': '100%' },
        podAnnotations: slow,
      });
      const acts = await c.until('all are acted on', async () => {
        const all = await c.updates();
        return all.length === 4 ? all : undefined;
      });
      const spread = (acts.at(-1)?.receivedAt ?? 0) - (acts[0]?.receivedAt ?? 0);
      assert.ok(spread < 2_900, `the acts were ${spread} ms apart`);
      await c.untilRunning('app:v2');
    },
    { nodes: 4 },
  );

  for (const zero of ['0', '0%'])
    rule(
      `${zero} freezes the rollout: no update, not even of broken pods`,
      async (c) => {
        await c.rolledOut({ annotations: { [budgetKey]: zero } });
        await c.breakPod(c.nodes[0]);
        await c.setImage('app:v2');
        const paused = await c.untilCondition('Paused');
        assert.equal(paused.reason, 'ZeroBudget');
        await c.expectNoUpdatesFor(3);
        assert.equal((await c.condition('Complete'))?.status, 'False');
        await c.annotate({ [budgetKey]: '1' });
        await c.untilRunning('app:v2');
      },
      { nodes: 2 },
    );

  for (const bad of ['abc', '-1', '150%', '1.5', ''])
    rule(
      `"${bad}" is invalid: a Warning Event and a condition say so, and the last valid budget is not used`,
      async (c) => {
        await c.rolledOut({ annotations: { [budgetKey]: '2' } });
        await c.annotate({ [budgetKey]: bad });
        await c.setImage('app:v2');
        const stalled = await c.untilCondition('Stalled');
        assert.equal(stalled.reason, 'InvalidPolicy');
        assert.ok(stalled.message.includes(`${budgetKey} "${bad}"`), stalled.message);
        const event = await c.untilWarning('InvalidPolicy');
        assert.equal(event.note, (await c.events('InvalidPolicy'))[0]?.note);
        await c.expectNoUpdatesFor(2);
        assert.equal((await c.condition('Ready'))?.status, 'False');
        await c.annotate({ [budgetKey]: '1' });
        await c.untilRunning('app:v2');
        assert.equal((await c.events('InvalidPolicy')).length, 1);
      },
      { nodes: 1 },
    );

  rule(
    'a percentage is of the online nodes only',
    async (c) => {
      await c.rolledOut({ annotations: { [budgetKey]: '50%' }, podAnnotations: slow });
      await c.cluster.offline(c.nodes.slice(4));
      await c.until('they count as offline', async () => (await c.status()).nodes?.online === 4);
      await c.setImage('app:v2');
      await untilWaveOf(c, 2);
    },
    { nodes: 8 },
  );

  rule(
    'one slow node does not block the other slots',
    async (c) => {
      const [first = ''] = c.nodes;
      await c.rolledOut({ annotations: { [budgetKey]: '2' } });
      await c.cluster.behave([first], { startMs: 25_000 });
      await c.setImage('app:v2');
      await c.untilRunning('app:v2', c.nodes.slice(1));
      assert.equal((await c.updatedNodes()).length, 6);
      assert.ok(!(await c.running('app:v2')).includes(first), 'the slow one is still starting');
      await c.cluster.behave([first], undefined);
      await c.untilRunning('app:v2', c.nodes, 60_000);
    },
    { nodes: 6 },
  );

  rule(
    'raising it midway takes effect immediately',
    async (c) => {
      await c.startRollout('app:v2', {
        annotations: { 'edgeset.io/first-wave': '100%' },
        podAnnotations: { 'sim.edgeset.io/start-ms': '15000' },
      });
      await c.until('the first act', async () => (await c.updates()).length === 1);
      const raisedAt = Date.now();
      await c.annotate({ [budgetKey]: '4' });
      await c.until('three more at once', async () => (await c.updates()).length === 4);
      const late = (await c.updates()).map(({ receivedAt }) => receivedAt - raisedAt);
      assert.ok(
        late.every((ms) => ms < 12_000),
        `updates began ${late.join(', ')} ms after it was raised`,
      );
      await c.untilRunning('app:v2');
    },
    { nodes: 4 },
  );

  rule(
    'after lowering it midway no update begins until enough nodes are available',
    async (c) => {
      await c.startRollout('app:v2', { annotations: { [budgetKey]: '3' }, podAnnotations: slow });
      await c.until('a wave', async () => (await c.updates()).length === 3);
      await c.annotate({ [budgetKey]: '1' });
      await c.until('the next act', async () => (await c.updates())[3]);
      await c.untilRunning('app:v2');
      const acts = await c.updates();
      const [fourth, fifth] = [acts[3]?.receivedAt ?? 0, acts[4]?.receivedAt ?? 0];
      assert.ok(fifth - fourth > 2_500, 'one at a time from then on');
    },
    { nodes: 5, budget: 3 },
  );

  rule(
    'old pods that are down already are replaced first, one in flight at a time',
    async (c) => {
      await c.rolledOut();
      const broken = c.nodes.slice(3);
      for (const node of broken) await c.breakPod(node);
      await c.setImage('app:v2');
      await c.untilRunning('app:v2');
      const order = await c.updatedNodes();
      assert.deepEqual(order.slice(0, 2).toSorted(), broken);
      assert.equal(order.length, 5);
    },
    { nodes: 5 },
  );

  rule(
    'nodes that are down reduce the budget for healthy nodes',
    async (c) => {
      const [stuck = '', ...others] = c.nodes;
      await c.rolledOut();
      await c.cluster.behave([stuck], { behaviour: 'never-ready' });
      await c.until('it is down', async () => !(await c.podOn(stuck)).ready);
      await c.annotate({ 'edgeset.io/failure-threshold': '9', [budgetKey]: '2' });
      await c.setImage('app:v2');
      await c.until('the broken one has its try', async () => (await c.podOn(stuck)).image === 'app:v2');
      await c.untilRunning('app:v2', others);
      await c.cluster.behave([stuck], undefined);
      await c.untilRunning('app:v2');
    },
    { nodes: 4 },
  );

  rule(
    'a node without a pod counts as down',
    async (c) => {
      await c.startRollout('app:v2', { annotations: { 'edgeset.io/paused': 'true' } });
      await c.until('the target is known', async () => (await c.status()).nodes?.outdated === 3);
      const { name } = await c.podOn(c.nodes[0]);
      c.cluster.nativeController.pause();
      try {
        await c.api.remove(`/api/v1/namespaces/${c.namespace}/pods/${name}`);
        await c.until('it is missed', async () => (await c.status()).nodes?.missing === 1);
        await c.annotate({ 'edgeset.io/paused': null });
        await c.expectNoUpdatesFor(3);
      } finally {
        c.cluster.nativeController.resume();
      }
      await c.untilRunning('app:v2');
    },
    { forAll: true },
  );

  rule('minReadySeconds counts as down', async (c) => {
    await c.startRollout('app:v2', { minReadySeconds: 6 });
    await c.until('one runs, but not for long enough', async () =>
      (await c.status()).causes?.some(({ cause }) => cause === 'ready-too-short'),
    );
    await c.untilRunning('app:v2');
    const times = (await c.updates()).map(({ receivedAt }) => receivedAt);
    for (const [index, at] of times.slice(1).entries())
      assert.ok(at - (times[index] ?? 0) >= 6_000, 'an act follows minReadySeconds after the pod before is ready');
    // The condition has whole seconds.
    const completeAt = Date.parse((await c.untilCondition('Complete')).lastTransitionTime);
    assert.ok(completeAt - (times.at(-1) ?? 0) >= 5_000, 'and so does the end of the rollout');
  });
});
