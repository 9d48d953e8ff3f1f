import assert from 'node:assert/strict';
import type { Event } from 'kubernetes-types/events/v1.d.ts';
import { section, strategyKey } from '../kit/index.ts';
import { byOwner } from '../native/ota-kit.ts';
import { announced, conditionOf, said, withOwner, writesOf } from './owner.ts';

/** What an owner does through OpenYurt's routes, under the rights that are shipped. */
export const compatibleRules = section('The agent', (rule) => {
  rule(
    'one request of the owner replaces one pod, and the agent sends one delete for exactly the pod it read',
    async (c) => {
      const pod = await announced(c);
      await withOwner(c, {}, async (owner) => {
        await c.until('the agent shows its pod', async () => (await owner.pods()).names.includes(pod));
        const shown = await owner.pods();
        assert.deepEqual(shown.names, [pod], 'pods of this node alone');
        assert.equal(conditionOf(shown.items[0], 'PodNeedUpgrade')?.status, 'True');
        assert.deepEqual(await owner.upgrade(pod), { status: 200, text: `Start updating pod ${c.namespace}/${pod}` });
        await c.untilRunning('app:v2', c.nodes.slice(0, 1));
        assert.deepEqual(await c.running('app:v1'), c.nodes.slice(1));
        const [act, ...more] = await writesOf(c, owner);
        assert.deepEqual(more.map(said), []);
        assert.ok(act);
        assert.equal(said(act), `delete pods ${pod}: 200`);
        const { preconditions = {} } = act.request as { preconditions?: Record<string, string> };
        assert.deepEqual(Object.keys(preconditions).toSorted(), ['resourceVersion', 'uid']);
        // The embedded cluster knows no claims.
        assert.ok(act.node === undefined || act.node === c.nodes[0]);
        const [event] = await c.until('the DaemonSet has an Event of the agent', async () => {
          const path = `/apis/events.k8s.io/v1/namespaces/${c.namespace}/events`;
          const { items } = await c.api.get<{ items: Event[] }>(path);
          const own = items.filter(({ reportingController }) => reportingController === 'edgeset.io/agent');
          return own.length > 0 && own;
        });
        assert.equal(event?.regarding?.name, 'app');
        assert.equal(event.reportingInstance, c.nodes[0]);
      });
    },
  );

  rule("the annotation of OpenYurt's proposal works, too, and two owners decide each for their own node", async (c) => {
    const [, second, third] = c.nodes;
    const proposed = { [strategyKey]: null, 'apps.openyurt.io/upgrade-strategy': 'OTA' };
    const pod = await announced(c, 'app:v2', { annotations: proposed });
    const { name: other } = await c.podOn(second);
    await withOwner(c, {}, (one) =>
      withOwner(c, { node: second }, async (two) => {
        for (const [owner, own] of [
          [one, pod],
          [two, other],
        ] as const)
          await c.until('the agent shows its pod', async () => (await owner.pods()).names.includes(own));
        const foreign = await one.upgrade(other);
        assert.equal(foreign.status, 403, foreign.text);
        assert.match(foreign.text, new RegExp(`is running on ${second}, can not be updated`));
        assert.deepEqual(await writesOf(c, one), []);
        const answers = await Promise.all([one.upgrade(pod), two.upgrade(other)]);
        assert.deepEqual(
          answers.map(({ status }) => status),
          [200, 200],
        );
        await c.untilRunning('app:v2', c.nodes.slice(0, 2));
        assert.deepEqual(await c.running('app:v1'), [third]);
        const writes = (await writesOf(c, one)).map(said);
        assert.deepEqual(writes.toSorted(), [pod, other].map((name) => `delete pods ${name}: 200`).toSorted());
        const none = await one.upgrade((await c.podOn(c.nodes[0])).name);
        assert.equal(none.status, 403, none.text);
        assert.match(none.text, /update status is False, can not be updated/);
      }),
    );
  });

  rule(
    'offline and after a power cut it still shows its pods, sends nothing, keeps requests, and executes them once when it is back',
    async (c) => {
      const pod = await announced(c);
      const link = await c.cluster.link();
      try {
        await withOwner(c, { link }, async (owner) => {
          await c.until('the agent shows its pod', async () => (await owner.pods()).names.includes(pod));
          await owner.onDisk(pod);
          link.cut();
          await c.until('the agent knows that it is cut off', async () => (await owner.upgrade(pod)).status === 503);
          await owner.powerCut();
          assert.deepEqual((await owner.pods()).names, [pod]);
          const refused = await owner.upgrade(pod);
          assert.equal(refused.status, 503, refused.text);
          assert.match(refused.text, /OTA upgrade is not allowed when node is disconnected to cloud/);
          const queued = { status: 202, text: `Queued updating pod ${c.namespace}/${pod}` };
          assert.deepEqual(await owner.upgrade(pod, '?queue=true'), queued);
          assert.deepEqual(await owner.upgrade(pod, '?queue=true'), queued, 'asked again, it is the same');
          assert.equal((await owner.update()).state, 'queued');
          await owner.powerCut();
          assert.deepEqual(await writesOf(c, owner), []);
          link.restore();
          await c.untilRunning('app:v2', c.nodes.slice(0, 1));
          assert.deepEqual((await writesOf(c, owner)).map(said), [`delete pods ${pod}: 200`]);
        });
      } finally {
        await link.close();
      }
    },
    { nodes: 1 },
  );

  rule(
    'over a silent link it soon responds that nothing was sent, and sends nothing later',
    async (c) => {
      const pod = await announced(c);
      const link = await c.cluster.link();
      try {
        await withOwner(c, { link }, async (owner) => {
          await owner.untilShown('available');
          link.stall();
          const asked = performance.now();
          const refused = await owner.upgrade(pod);
          assert.equal(refused.status, 503, refused.text);
          assert.ok(performance.now() - asked < 10_000, `it took ${Math.round(performance.now() - asked)} ms`);
          link.restore();
          await owner.untilShown('available');
          assert.deepEqual(await writesOf(c, owner), []);
        });
      } finally {
        await link.close();
      }
    },
    { nodes: 1 },
  );

  rule(
    'images are pulled ahead by the manager, and the update waits for them',
    async (c) => {
      const pod = await announced(c);
      const path = `/api/v1/namespaces/${c.namespace}/pods/${pod}`;
      await c.cluster.behave(c.nodes, { startMs: 8_000 });
      await withOwner(c, {}, async (owner) => {
        await owner.untilShown('available');
        const text = `Image pre-pull requested for pod ${c.namespace}/${pod}`;
        assert.deepEqual(await owner.pullImages(pod), { status: 200, text });
        const early = await owner.upgrade(pod);
        assert.equal(early.status, 403, early.text);
        assert.match(early.text, /image is not ready/);
        const ready = await c.until('the images are there', async () => {
          const found = conditionOf(await c.api.get(path), 'PodImageReady');
          return found?.status === 'True' && found;
        });
        const { target } = await owner.update();
        assert.deepEqual([ready.reason, ready.message], ['PullImageSuccess', `controllerrevision: ${target.revision}`]);
        await c.until('the owner is told', async () => (await owner.update()).image.state === 'ready');
        assert.equal((await owner.upgrade(pod)).status, 200);
        await c.untilRunning('app:v2');
        const writes = (await writesOf(c, owner)).map(said);
        assert.deepEqual(writes, [`patch pods/status ${pod}: 200`, `delete pods ${pod}: 200`]);
      });
    },
    { nodes: 1 },
  );

  rule(
    'a halted version is refused by both APIs, until there is another one',
    async (c) => {
      await announced(c, 'app:v2--crash-loop', { annotations: { 'edgeset.io/failure-threshold': '1' } });
      const [, second] = c.nodes;
      await withOwner(c, {}, async (owner) => {
        await owner.untilShown('available');
        await byOwner(c, second);
        const { target } = await owner.untilShown('halted');
        const pod = (await c.podOn(c.nodes[0])).name;
        const refused = await owner.upgrade(pod);
        assert.equal(refused.status, 403, refused.text);
        assert.match(refused.text, /halted/);
        const decision = await owner.decide({ revision: target.revision, decision: 'approve' });
        assert.equal(decision.status, 403, decision.text);
        assert.deepEqual(await writesOf(c, owner), []);
        await c.setImage('app:v3');
        await owner.untilShown('available');
        assert.equal((await owner.upgrade(pod)).status, 200);
        await c.untilRunning('app:v3', c.nodes.slice(0, 1));
      });
    },
    { nodes: 2 },
  );
});
