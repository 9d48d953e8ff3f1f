import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { announced, conditionOf, type Owner, said, withOwner, writesOf } from '../agent/owner.ts';
import { type Case, type PodView, section, strategyKey } from '../kit/index.ts';
import { untilSaid } from '../native/ota-kit.ts';

const UP_TO_DATE = 'False UpToDate';
const NEW = 'True NewRevision';
const PREPARING = 'lifecycle.apps.kruise.io/state';

const podPath = (c: Case, name: string): string => `/api/v1/namespaces/${c.namespace}/pods/${name}`;
const containersOf = ({ object }: PodView): string | undefined => object.status?.containerStatuses?.[0]?.containerID;

/** All that the agent wrote is one report in the status of this pod. */
const wroteOnce = async (c: Case, owner: Owner, pod: string): Promise<void> =>
  assert.deepEqual((await writesOf(c, owner)).map(said), [`patch pods/status ${pod}: 200`]);

export const ota = section(
  'OTA on Advanced DaemonSets',
  (rule) => {
    rule('one request of the owner approves, and the manager replaces that pod only', async (c) => {
      const pod = await announced(c, 'app:v2', { updateStrategy: 'OnDelete' });
      await untilSaid(c, [NEW, NEW, NEW]);
      assert.deepEqual(await c.updates(), []);
      await withOwner(c, {}, async (owner) => {
        await c.until('its owner is shown what is new', async () => {
          const { state, target } = await owner.update();
          return state === 'available' && target.images?.[0]?.image === 'app:v2';
        });
        assert.deepEqual(await owner.upgrade(pod), { status: 200, text: `Start updating pod ${c.namespace}/${pod}` });
        await c.untilRunning('app:v2', c.nodes.slice(0, 1));
        await untilSaid(c, [UP_TO_DATE, NEW, NEW]);
        await owner.untilShown('current');
        assert.deepEqual(await c.running('app:v1'), c.nodes.slice(1));
        assert.deepEqual(await c.updatedNodes(), c.nodes.slice(0, 1));
        await wroteOnce(c, owner, pod);
        await c.until('the others are awaited', async () => (await c.status()).summary === 'Waiting for 2 owners');
      });
    });

    rule(
      'an in-place update keeps the pod, and its owner is asked again about a revision approved before',
      async (c) => {
        const rollingUpdate = { rollingUpdateType: 'InPlaceIfPossible' } as const;
        const pod = await announced(c, 'app:v2', { rollingUpdate });
        const before = await c.podOn(c.nodes[0]);
        await withOwner(c, {}, async (owner) => {
          const { target } = await owner.untilShown('available');
          assert.equal((await owner.decide({ revision: target.revision, decision: 'approve' })).status, 202);
          await c.untilRunning('app:v2', c.nodes.slice(0, 1));
          await owner.untilShown('current');
          const after = await c.podOn(c.nodes[0]);
          assert.equal(after.uid, before.uid);
          assert.notEqual(containersOf(after), containersOf(before));
          await wroteOnce(c, owner, pod);
          for (const image of ['app:v1', 'app:v2', 'app:v1']) {
            await c.setImage(image);
            await untilSaid(c, image === 'app:v1' ? [NEW, UP_TO_DATE] : [UP_TO_DATE, NEW]);
          }
          await owner.untilShown('available');
          assert.equal(conditionOf((await c.podOn(c.nodes[0])).object, 'UpgradeApproved'), undefined);
          await c.expectNoUpdatesFor(2);
        });
      },
      { nodes: 2 },
    );

    rule(
      'a decision made offline is approved once the device is back',
      async (c) => {
        const pod = await announced(c, 'app:v2', { updateStrategy: 'OnDelete' });
        const link = await c.cluster.link();
        try {
          await withOwner(c, { link }, async (owner) => {
            const { target } = await owner.untilShown('available');
            await owner.onDisk(pod);
            link.cut();
            await c.until('the agent knows that it is cut off', async () => (await owner.upgrade(pod)).status === 503);
            assert.equal((await owner.decide({ revision: target.revision, decision: 'approve' })).status, 202);
            await owner.powerCut();
            assert.equal((await owner.untilShown('queued')).reason, 'Disconnected');
            assert.deepEqual(await writesOf(c, owner), []);
            link.restore();
            await c.untilRunning('app:v2');
            await owner.untilShown('current');
            await wroteOnce(c, owner, pod);
          });
        } finally {
          await link.close();
        }
      },
      { nodes: 1 },
    );

    rule(
      'the preDelete hook delays what owners approved, and they are informed',
      async (c) => {
        const lifecycle = { preDelete: { labelsHandler: { hold: 'yes' } } };
        const pod = await announced(c, 'app:v2', { podLabels: { hold: 'yes' }, spec: { lifecycle } });
        await withOwner(c, {}, async (owner) => {
          await owner.untilShown('available');
          assert.equal((await owner.upgrade(pod)).status, 200);
          await c.until('the hook is told', async () => {
            const { metadata } = await c.api.get<Pod>(podPath(c, pod));
            return metadata?.labels?.[PREPARING] === 'PreparingDelete';
          });
          await c.until('its owner too', async () => (await owner.update()).reason === 'Preparing');
          assert.equal((await owner.upgrade(pod)).status, 200, 'asked again, it is the same');
          assert.equal((await c.podOn(c.nodes[0])).terminating, false);
          await c.api.merge(podPath(c, pod), { metadata: { labels: { hold: null } } });
          await c.untilRunning('app:v2');
          await owner.untilShown('current');
          await wroteOnce(c, owner, pod);
        });
      },
      { nodes: 1 },
    );

    rule(
      'two owners who approve at the same time are served within maxUnavailable',
      async (c) => {
        const slow = { podAnnotations: { 'sim.edgeset.io/start-ms': '2500' } };
        const pod = await announced(c, 'app:v2', slow);
        const { name: other } = await c.podOn(c.nodes[1]);
        await withOwner(c, {}, (one) =>
          withOwner(c, { node: c.nodes[1] }, async (two) => {
            await Promise.all([one.untilShown('available'), two.untilShown('available')]);
            const answers = await Promise.all([one.upgrade(pod), two.upgrade(other)]);
            assert.deepEqual(
              answers.map(({ status }) => status),
              [200, 200],
            );
            await c.until('the second waits for its turn', async () => {
              const { reason } = (await c.updatedNodes())[0] === c.nodes[0] ? await two.update() : await one.update();
              return (await c.updatedNodes()).length === 1 && reason === 'WaitingForManager';
            });
            assert.equal((await c.condition('Reconciling'))?.status, 'True');
            await c.untilRunning('app:v2', c.nodes.slice(0, 2));
            await c.untilCondition('Reconciling', 'False');
          }),
        );
      },
      { nodes: 3 },
    );

    rule(
      'a version that fails is halted also for owners who approved, and they are asked about the next one',
      async (c) => {
        const pod = await announced(c, 'app:v2--crash-loop', { annotations: { 'edgeset.io/failure-threshold': '1' } });
        await withOwner(c, {}, (one) =>
          withOwner(c, { node: c.nodes[1] }, async (two) => {
            await Promise.all([one.untilShown('available'), two.untilShown('available')]);
            assert.equal((await one.upgrade(pod)).status, 200);
            await c.untilCondition('Halted');
            await one.untilShown('failed');
            await two.untilShown('halted');
            const refused = await two.upgrade((await c.podOn(c.nodes[1])).name);
            assert.equal(refused.status, 403, refused.text);
            await c.setImage('app:v3');
            for (const owner of [one, two]) await owner.untilShown('available');
            assert.equal((await one.upgrade((await c.podOn(c.nodes[0])).name)).status, 200);
            await c.untilRunning('app:v3', c.nodes.slice(0, 1));
            assert.deepEqual(await c.running('app:v1'), c.nodes.slice(1));
          }),
        );
      },
      { nodes: 2 },
    );

    rule(
      'a deadline overrides owners',
      async (c) => {
        const pod = await announced(c, 'app:v2', { updateStrategy: 'OnDelete' });
        await withOwner(c, {}, async (owner) => {
          const { target } = await owner.untilShown('available');
          await owner.decide({ revision: target.revision, decision: 'reject' });
          await c.annotate({
            'edgeset.io/ota-deadline': new Date(Date.now() - 60_000).toISOString(),
            'edgeset.io/ota-deadline-spread': '1s',
          });
          await c.untilRunning('app:v2');
          await owner.untilShown('current');
          await wroteOnce(c, owner, pod);
        });
      },
      { nodes: 1 },
    );

    rule(
      'after opting out, announcements and approvals are removed, and the strategy of the spec applies',
      async (c) => {
        const pod = await announced(c, 'app:v2', {
          updateStrategy: 'OnDelete',
          annotations: { 'edgeset.io/settle-seconds': '3600' },
        });
        await withOwner(c, {}, async (owner) => {
          await owner.untilShown('available');
          assert.equal((await owner.upgrade(pod)).status, 200);
          await owner.untilShown('updating');
          await c.annotate({ [strategyKey]: null });
          await untilSaid(c, ['nothing', 'nothing']);
          assert.equal(conditionOf(await c.api.get(podPath(c, pod)), 'UpgradeApproved'), undefined);
          await c.annotate({ 'edgeset.io/settle-seconds': '0' });
          await c.expectNoUpdatesFor(2);
          const refused = await owner.upgrade(pod);
          assert.equal(refused.status, 403, refused.text);
          await c.change({ spec: { updateStrategy: { type: 'RollingUpdate' } } });
          await c.untilRunning('app:v2');
        });
      },
      { nodes: 2 },
    );

    rule(
      'images are pulled ahead by the manager, and the approval waits for them',
      async (c) => {
        const pod = await announced(c, 'app:v2', { updateStrategy: 'OnDelete' });
        await c.cluster.behave(c.nodes, { startMs: 8_000 });
        await withOwner(c, {}, async (owner) => {
          await owner.untilShown('available');
          const text = `Image pre-pull requested for pod ${c.namespace}/${pod}`;
          assert.deepEqual(await owner.pullImages(pod), { status: 200, text });
          const early = await owner.upgrade(pod);
          assert.equal(early.status, 403, early.text);
          assert.match(early.text, /image is not ready/);
          await c.until(
            'the images are there',
            async () => conditionOf(await c.api.get(podPath(c, pod)), 'PodImageReady')?.status === 'True',
          );
          await c.until('the owner is told', async () => (await owner.update()).image.state === 'ready');
          assert.equal((await owner.upgrade(pod)).status, 200);
          await c.untilRunning('app:v2');
        });
      },
      { nodes: 1 },
    );
  },
  { kind: 'advanced' },
);
