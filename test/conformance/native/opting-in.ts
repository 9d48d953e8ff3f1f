import assert from 'node:assert/strict';
import { type Case, section, strategyKey } from '../kit/index.ts';

const proposedKey = 'apps.openyurt.io/upgrade-strategy';

/** The policy is refused: reported once as an Event, and in a condition that says how to fix it. */
const untilInvalid = async (c: Case, remedy: RegExp): Promise<void> => {
  const stalled = await c.untilCondition('Stalled');
  assert.equal(stalled.reason, 'InvalidPolicy');
  assert.match(stalled.message, remedy);
  const event = await c.untilWarning('InvalidPolicy');
  assert.match(event.note ?? '', remedy);
};

export const optingIn = section('Opt-in', (rule) => {
  const spellings = ['auto', 'Auto', 'AdvancedRollingUpdate', 'ADVANCEDROLLINGUPDATE'];
  const names = ['a', 'b', 'c', 'd'] as const;
  rule(
    'auto and AdvancedRollingUpdate mean the same, in any letter case',
    async (c) => {
      for (const [index, name] of names.entries())
        await c.create({ name, annotations: { [strategyKey]: spellings[index] ?? '' } });
      const all = (image: string) =>
        c.until(`all run ${image}`, async () => {
          const pods = await Promise.all(names.map((name) => c.pods(name)));
          return pods.flat().filter((pod) => pod.ready && !pod.terminating && pod.image === image).length === 4;
        });
      await all('app:v1');
      for (const name of names) await c.setImage('app:v2', name);
      await all('app:v2');
    },
    { nodes: 1, daemonSets: names },
  );

  rule("the proposal's key upgrade-strategy is read too", async (c) => {
    await c.startRollout('app:v2', { annotations: { [strategyKey]: null, [proposedKey]: 'AdvancedRollingUpdate' } });
    await c.untilRunning('app:v2');
    assert.deepEqual(await c.events('PolicyConflict'), []);
  });

  rule(
    'when both keys are set and differ, update-strategy wins and one Warning Event says so',
    async (c) => {
      await c.startRollout('app:v2', { annotations: { [proposedKey]: 'ota' } });
      await c.untilRunning('app:v2');
      const event = await c.untilWarning('PolicyConflict');
      assert.match(event.note ?? '', /upgrade-strategy/);
      assert.equal((await c.events('PolicyConflict')).length, 1);
    },
    { nodes: 1 },
  );

  rule(
    'when both keys are set and mean the same, there is no Warning',
    async (c) => {
      await c.startRollout('app:v2', { annotations: { [proposedKey]: 'AdvancedRollingUpdate' } });
      await c.untilRunning('app:v2');
      await c.untilEvent('RolloutCompleted');
      assert.deepEqual(await c.events('PolicyConflict'), []);
    },
    { nodes: 1 },
  );

  rule('without OnDelete nothing is updated; one Warning Event and a condition say how to fix it', async (c) => {
    await c.create({ updateStrategy: 'RollingUpdate' });
    await c.untilRunning('app:v1');
    await untilInvalid(c, /OnDelete/);
    await c.setImage('app:v2');
    await c.untilRunning('app:v2');
    assert.deepEqual(await c.updates(), [], 'it was the native controller that rolled it out');
    await c.untilCondition('Stalled');
    assert.equal((await c.events('InvalidPolicy')).length, 1);

    await c.change({ spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } });
    await c.untilCondition('Stalled', 'False');
    await c.setImage('app:v3');
    await c.untilRunning('app:v3');
  });

  rule(
    'an unknown value is ignored, with one Warning for each distinct value',
    async (c) => {
      await c.create({ annotations: { [strategyKey]: 'automatic' } });
      await c.untilRunning('app:v1');
      await untilInvalid(c, /auto or ota/);
      await c.setImage('app:v2');
      await c.expectNoUpdatesFor(2);
      await c.annotate({ [strategyKey]: 'whenever' });
      await c.until('the second value is told', async () => (await c.events('InvalidPolicy')).length === 2);
      await c.annotate({ unrelated: 'change' });
      await c.expectNoUpdatesFor(2);
      assert.equal((await c.events('InvalidPolicy')).length, 2);

      await c.annotate({ [strategyKey]: 'auto' });
      await c.untilRunning('app:v2');
    },
    { nodes: 1 },
  );

  rule(
    'removing the annotation stops the rollout immediately',
    async (c) => {
      await c.startRollout('app:v2', { podAnnotations: { 'sim.edgeset.io/start-ms': '1500' } });
      await c.until('the first act', async () => (await c.updates()).length === 1);
      await c.annotate({ [strategyKey]: null });
      await c.until('the act that had begun ends well', async () => (await c.running('app:v2')).length === 1);
      await c.expectNoUpdatesFor(3);
      assert.equal((await c.running('app:v1')).length, 3);
      assert.notEqual((await c.condition('Complete'))?.status, 'True');
      assert.notEqual((await c.condition('Reconciling'))?.status, 'True', 'nobody is at work');

      await c.annotate({ [strategyKey]: 'auto' });
      await c.untilRunning('app:v2');
    },
    { nodes: 4 },
  );

  rule(
    'a misspelled annotation holds the rollout, and its alias rolls it out',
    async (c) => {
      await c.rolledOut();
      await c.annotate({ 'edgeset.io/partiton': '90%' });
      await untilInvalid(c, /edgeset\.io\/partiton "90%" .*: rename it to edgeset\.io\/partition\./);
      await c.setImage('app:v2');
      await c.expectNoUpdatesFor(2);
      await c.annotate({
        'edgeset.io/partiton': null,
        'apps.openyurt.io/max-unavailable': null,
        [strategyKey]: null,
        'edgeset.io/update-strategy': 'auto',
        'edgeset.io/max-unavailable': '1',
      });
      await c.untilRunning('app:v2');
      assert.equal((await c.status()).budget?.maxUnavailable, '1');
    },
    { nodes: 2 },
  );

  rule(
    'a DaemonSet that is deleted with --cascade=orphan leaves no DaemonRollout behind',
    async (c) => {
      await c.rolledOut();
      await c.api.remove(`/apis/apps/v1/namespaces/${c.namespace}/daemonsets/app`, { propagationPolicy: 'Orphan' });
      await c.until('the DaemonRollout is gone', async () => (await c.rollout()) === undefined);
      assert.equal((await c.running('app:v1')).length, 1, 'the pods stay');
    },
    { nodes: 1 },
  );

  rule(
    'DaemonSets without the annotation cost nothing: their pods are not listed',
    async (c) => {
      // Pods that pull images are watched by their label, and are nobody's DaemonSet pods.
      const podReads = async () =>
        (await c.calls()).filter(
          ({ verb, resource, labelSelector }) =>
            resource === 'pods' && verb !== 'delete' && labelSelector !== 'edgeset.io/prefetch',
        ).length;
      await c.until('the manager is ready', async () => (await fetch(`${c.manager.probes}/readyz`)).ok);
      await c.create({ annotations: { [strategyKey]: null } });
      await c.untilRunning('app:v1');
      await c.setImage('app:v2');
      await c.expectNoUpdatesFor(2);
      // Watches are in the log once they have ended.
      await c.manager.stop();
      await c.until('its watches are in the log', async () =>
        (await c.calls()).some(({ verb, resource }) => verb === 'watch' && resource === 'daemonsets'),
      );
      assert.equal(await podReads(), 0);
      assert.equal(await c.rollout(), undefined);

      await c.annotate({ [strategyKey]: 'auto' });
      const second = await c.startManager();
      await c.untilRunning('app:v2');
      await second.stop();
      await c.until('its pods are read, as against those of one without it', async () => (await podReads()) > 0);
    },
    { nodes: 1 },
  );
});
