import assert from 'node:assert/strict';
import { budgetKey, type Case, section } from '../kit/index.ts';

const threshold = (value: string) => ({ 'edgeset.io/failure-threshold': value });
const deadline = (seconds: number) => ({ 'edgeset.io/progress-deadline-seconds': String(seconds) });
const suspectWindow = (seconds: number) => ({ 'edgeset.io/suspect-window-seconds': String(seconds) });

const untilCause = (c: Case, cause: string, count: number): Promise<unknown> =>
  c.until(`${count} nodes are ${cause}`, async () => {
    const { causes } = await c.status();
    return causes?.find((one) => one.cause === cause)?.count === count;
  });

/** Rolls `app:v2` out and cuts the first node that it is put on. */
const cutFirst = async (c: Case): Promise<string> => {
  await c.setImage('app:v2');
  const [away = ''] = await c.until('the first act', async () => {
    const acted = await c.updatedNodes();
    return acted.length > 0 ? acted : undefined;
  });
  await c.cluster.offline([away]);
  return away;
};

export const breaker = section('Failures, suspects and the breaker', (rule) => {
  for (const [behaviour, cause, annotations] of [
    ['crash-loop', 'crash-loop', {}],
    ['not-pullable', 'image-pull', {}],
    ['never-ready', 'deadline', deadline(4)],
    ['dies-after-ready', 'crash-loop', {}],
  ] as const)
    rule(`${behaviour} is a failure; the rollout halts at a budget of 1 and names the node`, async (c) => {
      await c.startRollout(`app:v2--${behaviour}`, {
        annotations,
        ...(behaviour === 'dies-after-ready' && { minReadySeconds: 4 }),
      });
      const halted = await c.untilCondition('Halted');
      const [node = ''] = await c.updatedNodes();
      assert.ok(halted.message.includes(node), halted.message);
      const status = await c.status();
      assert.deepEqual(
        status.failing?.map((failing) => [failing.node, failing.cause]),
        [[node, cause]],
      );
      assert.deepEqual(status.halted?.nodes, [node]);
      assert.equal((await c.condition('Stalled'))?.status, 'True');
      const event = await c.untilWarning('RolloutHalted');
      assert.ok(event.note?.includes(node));
      await c.expectNoUpdatesFor(2);
      assert.equal((await c.updates()).length, 1);

      await c.bringTo('app:v3');
      assert.equal((await c.condition('Halted'))?.status, 'False');
      assert.equal((await c.events('RolloutHalted')).length, 1);
    });

  rule(
    'a fixed template repairs the nodes that a bad one broke, in their own slots, at full budget',
    async (c) => {
      await c.startRollout('app:v2--crash-loop', { annotations: { [budgetKey]: '3', ...threshold('9') } });
      await c.untilCondition('Halted');
      const broken = (await c.updatedNodes()).toSorted();
      assert.equal(broken.length, 3);
      await c.setImage('app:v3');
      await c.untilRunning('app:v3');
      assert.deepEqual((await c.updatedNodes()).slice(3, 6).toSorted(), broken, 'those come first');
      await c.untilCondition('Complete');
    },
    { nodes: 5 },
  );

  rule(
    'so it does when the budget was lowered meanwhile',
    async (c) => {
      await c.startRollout('app:v2--crash-loop', { annotations: { [budgetKey]: '3', ...threshold('9') } });
      await c.untilCondition('Halted');
      await c.annotate({ [budgetKey]: '1' });
      await c.bringTo('app:v3');
    },
    { nodes: 4, budget: 3 },
  );

  rule(
    'a threshold below the budget halts as soon as it is reached',
    async (c) => {
      const bad = c.nodes.slice(0, 2);
      await c.rolledOut({ annotations: { [budgetKey]: '3', ...threshold('2') } });
      await c.cluster.behave(bad, { behaviour: 'crash-loop' });
      await c.setImage('app:v2');
      await c.untilCondition('Halted');
      const { budget, breaker: counts, halted } = await c.status();
      assert.deepEqual(halted?.nodes, bad);
      assert.deepEqual([counts?.failures, counts?.threshold], [2, 2]);
      assert.ok((budget?.inUse ?? 9) <= 3);
    },
    { nodes: 8 },
  );

  rule(
    'the first ten failing nodes are named, and all are counted',
    async (c) => {
      await c.startRollout('app:v2--crash-loop', { annotations: { [budgetKey]: '100%', ...threshold('20') } });
      await c.untilCondition('Halted');
      await c.until('all have failed', async () => (await c.status()).breaker?.failures === 12);
      const { failing, halted } = await c.status();
      assert.equal(failing?.length, 10);
      assert.ok((halted?.nodes.length ?? 0) <= 10);
      await c.setImage('app:v3');
      await c.untilRunning('app:v3');
    },
    { nodes: 12 },
  );

  rule(
    'failures below the threshold keep their slots, and the rollout continues on other nodes',
    async (c) => {
      const [bad = ''] = c.nodes;
      await c.rolledOut({ annotations: { [budgetKey]: '2' } });
      await c.cluster.behave([bad], { behaviour: 'crash-loop' });
      await c.setImage('app:v2');
      await c.untilRunning('app:v2', c.nodes.slice(1));
      await untilCause(c, 'crash-loop', 1);
      assert.equal((await c.condition('Halted'))?.status, 'False');
      assert.equal((await c.condition('Complete'))?.status, 'False');
      await c.cluster.behave([bad], undefined);
      await c.untilCondition('Complete');
    },
    { nodes: 5 },
  );

  rule(
    'a suspect frees its slot immediately, even at a budget of 1, and is cleared when it is healthy again',
    async (c) => {
      await c.rolledOut();
      const away = await cutFirst(c);
      await untilCause(c, 'suspect', 1);
      await c.untilRunning(
        'app:v2',
        c.nodes.filter((name) => name !== away),
      );
      await c.untilCondition('Complete');
      await c.cluster.online([away]);
      await c.until('it is cleared', async () => (await c.status()).breaker?.suspects === 0);
      await c.untilRunning('app:v2');
      assert.equal((await c.updates()).length, 3, 'once a node');
    },
  );

  rule('a suspect that is still offline at the end of the window is a failure', async (c) => {
    await c.rolledOut({ annotations: suspectWindow(30) });
    const away = await cutFirst(c);
    await untilCause(c, 'suspect', 1);
    await untilCause(c, 'lost', 1);
    const { breaker: counts, failing } = await c.status();
    assert.equal(counts?.suspects, 0);
    assert.equal(counts?.failures, 1);
    assert.equal(failing?.[0]?.node, away);
    await c.untilRunning(
      'app:v2',
      c.nodes.filter((name) => name !== away),
    );
    assert.equal((await c.condition('Halted'))?.status, 'False', 'a lost node holds no slot');
  });

  rule('a suspect that comes back broken is in flight again, and no update begins meanwhile', async (c) => {
    await c.rolledOut({ podAnnotations: { 'sim.edgeset.io/start-ms': '2500' } });
    await c.annotate({ 'edgeset.io/partition': '2' });
    const away = await cutFirst(c);
    await untilCause(c, 'suspect', 1);
    await c.cluster.behave([away], { behaviour: 'never-ready' });
    await c.cluster.online([away]);
    await c.until('it is in flight', async () => (await c.status()).budget?.inFlight === 1);
    await c.annotate({ 'edgeset.io/partition': null });
    await c.expectNoUpdatesFor(4);
    await c.cluster.behave([away], undefined);
    await c.untilComplete('app:v2');
  });

  rule('while suspects reach the threshold the rollout waits; once they are failures it halts', async (c) => {
    await c.rolledOut({
      annotations: { ...suspectWindow(30), ...threshold('1') },
      podAnnotations: { 'sim.edgeset.io/start-ms': '2500' },
      minReadySeconds: 8,
    });
    const away = await cutFirst(c);
    await c.until('it waits', async () => (await c.condition('Halted'))?.reason === 'WaitingForSuspects');
    assert.equal((await c.condition('Halted'))?.status, 'False');
    assert.match((await c.status()).summary ?? '', /^Waiting/);
    const halted = await c.untilCondition('Halted');
    assert.ok(halted.message.includes(away), halted.message);
    assert.equal((await c.updates()).length, 1);
    assert.ok((await c.untilEvent('RolloutHalted')).note?.includes(away));
  });

  rule('a waiting rollout continues automatically when its suspects are back', async (c) => {
    await c.rolledOut({ annotations: threshold('1'), minReadySeconds: 8 });
    const away = await cutFirst(c);
    await c.until('it waits', async () => (await c.condition('Halted'))?.reason === 'WaitingForSuspects');
    await c.cluster.online([away]);
    await c.untilRunning('app:v2', c.nodes, 60_000);
    assert.deepEqual(await c.events('RolloutHalted'), []);
  });

  rule(
    'resuming forgives the failures known so far',
    async (c) => {
      const bad = c.nodes.slice(0, 2);
      await c.rolledOut({ annotations: { [budgetKey]: '2' } });
      await c.cluster.behave(bad, { behaviour: 'crash-loop' });
      await c.setImage('app:v2');
      await c.untilCondition('Halted');
      await c.expectNoUpdatesFor(2);
      await c.annotate({ [budgetKey]: '3', 'edgeset.io/resume': (await c.status()).target?.hash ?? '' });
      await c.untilCondition('Halted', 'False');
      await c.untilRunning('app:v2', c.nodes.slice(2));
      await c.untilEvent('RolloutResumed');
      assert.equal((await c.events('RolloutResumed')).length, 1);
      assert.equal((await c.events('RolloutHalted')).length, 1);
    },
    { nodes: 5, budget: 3 },
  );

  rule('resuming a revision other than the target has no effect', async (c) => {
    await c.rolledOut();
    const { target: old } = await c.status();
    await c.setImage('app:v2--crash-loop');
    await c.untilCondition('Halted');
    await c.annotate({ 'edgeset.io/resume': old?.hash ?? '' });
    await c.expectNoUpdatesFor(2);
    assert.equal((await c.condition('Halted'))?.status, 'True');
    assert.deepEqual(await c.events('RolloutResumed'), []);
  });

  rule(
    'a version that kills nodes takes down no more nodes than budget plus threshold',
    async (c) => {
      await c.startRollout('app:v2--kills-node', {
        annotations: { [budgetKey]: '2' },
        podAnnotations: { 'sim.edgeset.io/die-ms': '300' },
        minReadySeconds: 9,
      });
      await c.until('it waits', async () => (await c.condition('Halted'))?.reason === 'WaitingForSuspects', 60_000);
      await c.expectNoUpdatesFor(4);
      const lost = new Set(await c.updatedNodes()).size;
      assert.ok(lost <= 2 + 3, `${lost} nodes were lost`);
    },
    { nodes: 8 },
  );
});
