import assert from 'node:assert/strict';
import { type Case, refusePods, section } from '../kit/index.ts';

const slow = { podAnnotations: { 'sim.edgeset.io/start-ms': '700' } };

/** What a manager may say while it cannot reach the API server. */
const cutOff =
  /watch failed|a watch is down|processing failed|the response to a write was lost|failed to write the status|dropped an Event/;

/** A rollout of which the first node is being updated. */
const midway = async (c: Case): Promise<void> => {
  await c.startRollout('app:v2', slow);
  await c.untilUpdates(1);
};

/** The link of the case's only manager, midway in its rollout. */
const linkMidway = async (c: Case) => {
  const link = await c.cluster.link();
  await c.startManager({ link });
  await midway(c);
  return link;
};

const untilDone = async (c: Case): Promise<void> => {
  await c.untilComplete('app:v2', c.nodes, 60_000);
  assert.deepEqual((await c.updatedNodes()).toSorted(), c.nodes, 'one act a node');
};

/** The API server refuses to delete pods on this node. */
const refuseDeletes = (c: Case, node: string): Promise<() => Promise<void>> =>
  refusePods(c, {
    operation: 'DELETE',
    expression: `oldObject.spec.nodeName != '${node}'`,
    message: 'this pod must stay',
  });

export const faults = section('Faults', (rule) => {
  for (const [what, seconds, fault] of [
    ['is cut for 30 s', 30, 'cut'],
    ['falls silent for 20 s', 20, 'stall'],
  ] as const)
    rule(
      `a link that ${what} midway`,
      async (c) => {
        const link = await linkMidway(c);
        link[fault]();
        await c.expectNoUpdatesFor(seconds);
        link.restore();
        await untilDone(c);
      },
      { nodes: 4, manager: 'none', expected: cutOff },
    );

  rule(
    'what happened while the link was silent is observed before the next update',
    async (c) => {
      const link = await linkMidway(c);
      link.stall();
      await c.annotate({ 'edgeset.io/paused': 'true' });
      await c.expectNoUpdatesFor(3);
      link.restore();
      await c.untilCondition('Paused');
      const before = (await c.updates()).length;
      await c.expectNoUpdatesFor(3);
      assert.ok(before <= 2, 'nothing but what was on its way already');
      await c.annotate({ 'edgeset.io/paused': null });
      await untilDone(c);
    },
    { nodes: 5, manager: 'none', expected: cutOff },
  );

  rule(
    'connections that are reset in the middle of deletes',
    async (c) => {
      const link = await c.cluster.link();
      await c.startManager({ link });
      await c.startRollout('app:v2', { ...slow, annotations: { 'apps.openyurt.io/max-unavailable': '3' } });
      let resets = 0;
      let seen = 0;
      await c.until(
        'all are acted on',
        async () => {
          const acts = (await c.updates()).length;
          if (acts > seen && resets < 6) {
            link.reset();
            resets += 1;
          }
          seen = acts;
          return acts >= c.nodes.length;
        },
        60_000,
        5,
      );
      assert.ok(resets >= 3, `${resets} resets`);
      await untilDone(c);
    },
    { nodes: 9, manager: 'none', expected: cutOff },
  );

  rule(
    'a slow link',
    async (c) => {
      const link = await c.cluster.link();
      await c.startManager({ link });
      await c.rolledOut();
      link.slow({ latencyMs: 200 });
      await c.setImage('app:v2');
      await untilDone(c);
    },
    { manager: 'none', expected: cutOff },
  );

  rule(
    'an API server that restarts midway',
    async (c) => {
      await midway(c);
      await c.cluster.restartApiServer();
      await untilDone(c);
    },
    // An API server that has just started refuses everybody until it has read the roles.
    { nodes: 5, forAll: true, expected: cutOff, refusals: true },
  );

  rule(
    'a refused delete is retried with its own back-off and reported once, and the rollout continues on other nodes',
    async (c) => {
      const [refused = '', ...others] = c.nodes;
      await c.rolledOut({ annotations: { 'apps.openyurt.io/max-unavailable': '2' } });
      const { name } = await c.podOn(refused);
      const allow = await refuseDeletes(c, refused);
      try {
        await c.setImage('app:v2');
        await c.untilRunning('app:v2', others);
        const event = await c.untilWarning('FailedDelete');
        assert.ok(event.note?.includes('this pod must stay'), `${event.note}`);
        await c.expectNoUpdatesFor(8);
        const tries = (await c.calls()).filter((call) => call.verb === 'delete' && call.name === name);
        assert.ok(tries.length >= 2 && tries.length <= 6, `${tries.length} tries`);
        assert.equal((await c.events('FailedDelete')).length, 1);
        assert.equal((await c.condition('Complete'))?.status, 'False');
      } finally {
        await allow();
      }
      await c.untilComplete('app:v2', c.nodes, 60_000);
    },
    { nodes: 4 },
  );

  rule(
    'a refused delete does not block the others even at a budget of 1',
    async (c) => {
      const [refused = '', ...others] = c.nodes;
      await c.rolledOut();
      const allow = await refuseDeletes(c, refused);
      try {
        await c.setImage('app:v2');
        await c.untilRunning('app:v2', others);
      } finally {
        await allow();
      }
      await c.untilRunning('app:v2', c.nodes, 60_000);
    },
    { nodes: 3 },
  );

  rule(
    'a DaemonRollout that is deleted midway is recreated, and nothing is forgotten',
    async (c) => {
      await midway(c);
      const path = `/apis/edgeset.io/v1alpha1/namespaces/${c.namespace}/daemonrollouts/app`;
      assert.ok(await c.api.remove(path));
      await c.untilUpdates(3);
      await c.api.remove(path);
      await untilDone(c);
      assert.equal((await c.status()).updatesStarted, 5);
    },
    { nodes: 5, expected: /processing failed/ },
  );

  rule(
    'a DaemonRollout that is edited midway is read again and corrected',
    async (c) => {
      await c.startRollout('app:v2', slow);
      const path = `/apis/edgeset.io/v1alpha1/namespaces/${c.namespace}/daemonrollouts/app`;
      for (const count of [1, 2, 3]) {
        await c.untilUpdates(count);
        await c.api.merge(path, { metadata: { labels: { edited: String(count) } } });
        await c.api.merge(`${path}/status`, { status: { summary: 'nonsense', nodes: { updated: 99 } } });
      }
      await untilDone(c);
      const { summary, nodes } = await c.status();
      assert.deepEqual([summary, nodes?.updated], ['Complete', 5]);
    },
    { nodes: 5, expected: /processing failed/ },
  );

  rule(
    'a pod that a user deletes midway takes a slot like any other pod that is down',
    async (c) => {
      await midway(c);
      const [acted] = await c.updatedNodes();
      const victim = (await c.pods()).findLast((pod) => pod.node !== acted && pod.image === 'app:v1');
      await c.api.remove(`/api/v1/namespaces/${c.namespace}/pods/${victim?.name}`);
      await c.untilComplete('app:v2');
      assert.equal((await c.updates()).length, 4);
    },
    { nodes: 5 },
  );

  rule(
    'a node that is recreated under the same name gets the new version',
    async (c) => {
      await midway(c);
      const acted = await c.updatedNodes();
      const again = c.nodes.findLast((name) => !acted.includes(name)) ?? '';
      await c.cluster.removeNodes([again]);
      await c.until('it is missed', async () => (await c.status()).nodes?.eligible === 3);
      await c.addNodes([again]);
      await c.untilComplete('app:v2', c.nodes, 60_000);
    },
    { nodes: 4 },
  );
});
