import assert from 'node:assert/strict';
import { type Case, type CaseKind, type Rule, refusePods, section, strategyKey, untilQuiet } from '../kit/index.ts';
import { untilSaid } from '../plugin/run.ts';
import {
  asksOf,
  assertAhead,
  budgeted,
  mostAtOnce,
  outcomeOn,
  pulledPods,
  pullPods,
  setDisk,
  untilClean,
  untilPulling,
} from './kit.ts';

/** Long enough for a busy machine to see the pull pods. */
const SLOW = { startMs: 6_000 };
const PARALLELISM = 'apps.kruise.io/image-predownload-parallelism';
const TIMEOUT = 'apps.kruise.io/image-predownload-timeout-seconds';
const MIN_UPDATED = 'apps.kruise.io/image-predownload-min-updated-ready-pods';
const PREDOWNLOAD = 'edgeset.io/predownload';
const required = { [PREDOWNLOAD]: 'required' };

const finished = async (c: Case, image: string): Promise<void> => {
  await c.untilComplete(image);
  await untilClean(c);
};

const noPullPods = {
  operation: 'CREATE' as const,
  expression: "!('edgeset.io/prefetch' in object.metadata.?labels.orValue({}))",
  message: 'no pulls in this namespace',
};

/** The same for both kinds of DaemonSet. */
export const aheadRules = (kind: CaseKind): Rule[] =>
  section(
    `Images pulled ahead of an update, ${kind} DaemonSets`,
    (rule) => {
      rule('are there before anything is done to a pod where they are required, broken pods too', async (c) => {
        await c.rolledOut(budgeted(kind, 2, required));
        await c.breakPod(c.nodes[0]);
        await c.cluster.behave(c.nodes, SLOW);
        await c.setImage('app:v2');
        await untilPulling(c);
        await c.until('the status says so', async () => (await c.status()).images?.pulling);
        assert.deepEqual(await c.updates(), []);
        await finished(c, 'app:v2');
        await assertAhead(c);
        assert.equal((await pulledPods(c)).length, 3);
      });

      rule(
        'are pulled on this many nodes at a time, and not waited for where nobody asks that',
        async (c) => {
          await c.rolledOut(budgeted(kind, 1, { [PARALLELISM]: '2' }));
          await c.cluster.behave(c.nodes, SLOW);
          await c.setImage('app:v2');
          await c.untilUpdates(1);
          await assert.rejects(assertAhead(c), /were there before/);
          await c.until('two pull', async () => (await pullPods(c)).length === 2);
          await finished(c, 'app:v2');
          assert.ok((await mostAtOnce(c)) <= 2, `${await mostAtOnce(c)} at a time`);
        },
        { nodes: 5 },
      );

      rule('are waited for no longer than one try may take where they are preferred', async (c) => {
        await c.rolledOut(budgeted(kind, 3, { [PREDOWNLOAD]: 'preferred', [TIMEOUT]: '5' }));
        await refusePods(c, noPullPods);
        await c.cluster.behave(c.nodes, { startMs: 8_000 });
        await c.setImage('app:v2');
        const [{ receivedAt: asked } = { receivedAt: 0 }] = await c.until('it is asked', async () => {
          const asks = await asksOf(c);
          return asks.length > 0 && asks;
        });
        const [act] = await c.untilUpdates(1);
        assert.ok(act && act.receivedAt - asked >= 3_500, 'it is waited for');
        await c.cluster.behave(c.nodes, undefined);
        await finished(c, 'app:v2');
      });

      rule('are pulled on the other nodes once this many are updated', async (c) => {
        await c.rolledOut(budgeted(kind, 1, { [PARALLELISM]: '100%', [MIN_UPDATED]: '1' }));
        await c.cluster.behave(c.nodes, { startMs: 1_500 });
        await c.setImage('app:v2');
        await finished(c, 'app:v2');
        const [first] = await c.updatedNodes();
        const asked = (await asksOf(c)).map(({ node }) => node);
        assert.ok(!asked.includes(first ?? ''), 'the first one was updated without');
        assert.ok(asked.length > 0 && asked.length <= 2);
      });

      rule(
        'that nobody can pull take no node down where they are required, and are told with the reason',
        async (c) => {
          await c.rolledOut(budgeted(kind, 2, required));
          await c.cluster.behave(c.nodes, { behaviour: 'not-pullable' });
          await c.setImage('app:v2');
          const { images } = await c.until('all have failed', async () => {
            const status = await c.status();
            return status.images?.failed === 3 && status;
          });
          assert.deepEqual(
            images?.failing.map(({ node }) => node),
            [...c.nodes],
          );
          assert.match(images?.failing[0]?.message ?? '', /app:v2: /);
          const [told] = [await c.untilEvent('FailedImagePull')];
          assert.match(told.note ?? '', /cannot be pulled ahead on \d node.*app:v2/);
          await c.expectNoUpdatesFor(3);
          const { nodes, causes } = await c.status();
          assert.deepEqual([nodes?.held, nodes?.updated], [3, 0]);
          assert.deepEqual(causes, [{ phase: 'held', cause: 'image', count: 3 }]);
          assert.equal((await c.events('FailedImagePull')).length, 1);
          assert.deepEqual(await c.updates(), []);
          await c.cluster.behave(c.nodes, undefined);
          await finished(c, 'app:v2');
          await assertAhead(c);
        },
      );

      rule(
        'fill no disk that is short, which is told with the reason, and follow once it has room',
        async (c) => {
          const [pressed = '', narrow = '', ...roomy] = c.nodes;
          await setDisk(c, pressed, { pressure: 'True' });
          await setDisk(c, narrow, { images: { 'app:v1': 8 }, gib: 10 });
          for (const node of roomy) await setDisk(c, node, { images: { 'app:v1': 8, 'app:v2': 3 } });
          await c.rolledOut(budgeted(kind, 3, required));
          await c.setImage('app:v2');
          await c.untilRunning('app:v2', roomy);
          const failing = await c.until('both are told', async () => {
            const { images } = await c.status();
            return images?.failed === 2 && images.failing;
          });
          assert.match(failing.find(({ node }) => node === pressed)?.message ?? '', /DiskPressure is True/);
          assert.match(failing.find(({ node }) => node === narrow)?.message ?? '', /8\.0 GiB.* 3\.0 GiB.* 10\.0 GiB/);
          await c.untilEvent('FailedImagePull');
          const daemonSet = kind === 'native' ? 'daemonset/app' : 'ads/app';
          const why = /held \(image\)[^]*has\s+no\s+room/;
          await untilSaid(c, why, 'explain', daemonSet, '--node', narrow);
          assert.equal((await pulledPods(c)).length, 2);
          await setDisk(c, pressed, { pressure: 'False' });
          await setDisk(c, narrow, { images: { 'app:v1': 4 } });
          await finished(c, 'app:v2');
          await assertAhead(c);
          for (const node of c.nodes) await setDisk(c, node, {});
        },
        { nodes: 4 },
      );

      rule(
        'are not waited for on a disk that is short where nobody asks that',
        async (c) => {
          await setDisk(c, c.nodes[0] ?? '', { pressure: 'True' });
          await c.rolledOut(budgeted(kind, 1, { [PARALLELISM]: '2' }));
          await c.setImage('app:v2');
          await finished(c, 'app:v2');
          assert.deepEqual(await pulledPods(c), []);
          await setDisk(c, c.nodes[0] ?? '', {});
        },
        { nodes: 1 },
      );

      rule('are given up with the template that they are of, and pulled for the next one', async (c) => {
        await c.rolledOut(budgeted(kind, 2, required));
        await c.cluster.behave(c.nodes, SLOW);
        await c.setImage('app:v2');
        const old = await untilPulling(c);
        await c.setImage('app:v3');
        await c.until('the first are gone', async () =>
          (await pullPods(c)).every(({ metadata }) => metadata?.uid !== old.metadata?.uid),
        );
        await finished(c, 'app:v3');
        await assertAhead(c);
      });

      rule('are forgotten when the DaemonSet is deleted', async (c) => {
        await c.rolledOut(budgeted(kind, 1, required));
        await c.cluster.behave(c.nodes, { startMs: 60_000 });
        await c.setImage('app:v2');
        await untilPulling(c);
        await c.kubectl([
          'delete',
          kind === 'native' ? 'daemonset.apps' : 'daemonset.apps.kruise.io',
          'app',
          '--wait=false',
        ]);
        await untilClean(c, 45_000);
      });

      rule(
        'are pulled once when the manager is killed midway',
        async (c) => {
          await c.rolledOut(budgeted(kind, 1, required));
          await c.cluster.behave(c.nodes, SLOW);
          await c.setImage('app:v2');
          await c.until('both are under way', async () => (await pullPods(c)).length === 2, 60_000, 50);
          c.manager.kill('SIGKILL');
          await c.startManager();
          await finished(c, 'app:v2');
          await assertAhead(c);
          assert.equal((await pulledPods(c)).length, 2);
        },
        { nodes: 2 },
      );

      rule('are abandoned, and no longer requested on any pod, when they are switched off', async (c) => {
        await c.rolledOut(budgeted(kind, 1, required));
        await c.cluster.behave(c.nodes, { startMs: 20_000 });
        await c.setImage('app:v2');
        await untilPulling(c);
        await c.annotate({ [PREDOWNLOAD]: 'off' });
        await untilClean(c);
        await c.until('no pod asks', async () =>
          (await Promise.all((await c.pods()).map(({ node }) => outcomeOn(c, node)))).every((one) => one === undefined),
        );
        await c.untilUpdates(1);
      });

      rule(
        'are pulled while the update is paused, which takes no pull afterwards',
        async (c) => {
          const paused = kind === 'native' ? { 'edgeset.io/paused': 'true' } : {};
          const shape = budgeted(kind, 2, { [PARALLELISM]: '2', ...paused });
          await c.startRollout('app:v2', {
            ...shape,
            ...(kind === 'advanced' && { rollingUpdate: { maxUnavailable: 2, paused: true } }),
          });
          await c.until('both have them', async () => (await c.status()).images?.pulled === 2);
          await untilClean(c);
          assert.deepEqual(await c.updates(), []);
          if (kind === 'native') await c.annotate({ 'edgeset.io/paused': null });
          else await c.change({ spec: { updateStrategy: { rollingUpdate: { paused: false } } } });
          await finished(c, 'app:v2');
          assert.equal((await pulledPods(c)).length, 2);
        },
        { nodes: 2 },
      );

      rule(
        'that the kubelet deletes before the update are pulled again once, and it is told when they are deleted again',
        async (c) => {
          const [node = ''] = c.nodes;
          const without = { 'app:v1': 2, 'other:v1': 1 };
          const deleteImage = async (): Promise<void> => {
            await setDisk(c, node, { images: { ...without, 'app:v2': 3 } });
            await setDisk(c, node, { images: without });
          };
          const pause = async (paused: boolean): Promise<void> => {
            if (kind === 'native') await c.annotate({ 'edgeset.io/paused': String(paused) });
            else await c.change({ spec: { updateStrategy: { rollingUpdate: { paused } } } });
          };
          await setDisk(c, node, { images: without });
          await c.rolledOut(budgeted(kind, 1, { [PARALLELISM]: '1' }));
          await pause(true);
          await c.setImage('app:v2');
          await c.until('they are there', async () => (await c.status()).images?.pulled === 1);
          await untilClean(c);
          await c.cluster.behave(c.nodes, SLOW);
          await deleteImage();
          const said = (text: string) => async (): Promise<boolean> =>
            (await outcomeOn(c, node))?.message.includes(text) === true;
          await c.until('they are deleted', said('deleted by the kubelet: 1'));
          await c.until('they are pulled again', async () => (await c.status()).images?.pulling === 1);
          await c.until('they are there again', async () => (await c.status()).images?.pulled === 1);
          await c.cluster.behave(c.nodes, undefined);
          assert.equal((await pulledPods(c)).length, 2);
          await untilClean(c);
          await deleteImage();
          await c.until('they are left alone', said('the kubelet has deleted the images 2 times'));
          await c.until('the status says so', async () => (await c.status()).images?.failed === 1);
          await c.expectNoUpdatesFor(2);
          assert.equal((await pulledPods(c)).length, 2);
          await pause(false);
          await finished(c, 'app:v2');
          await setDisk(c, node, {});
        },
        { nodes: 1 },
      );

      rule(
        'are pulled one node after the other where the manager is told to, and not where the DaemonSet says no',
        async (c) => {
          await c.rolledOut(budgeted(kind, 1, {}));
          await c.cluster.behave(c.nodes, { startMs: 1_500 });
          await c.setImage('app:v2');
          await finished(c, 'app:v2');
          assert.equal(await mostAtOnce(c), 1);
          await c.annotate({ [PREDOWNLOAD]: 'off' });
          const before = (await asksOf(c)).length;
          await c.setImage('app:v3');
          await finished(c, 'app:v3');
          assert.equal((await asksOf(c)).length, before);
        },
        { nodes: 3, manager: ['--predownload'] },
      );

      rule(
        'of which too little is said are not guessed at: bad values are named with the remedy',
        async (c) => {
          await c.rolledOut(budgeted(kind, 1, {}));
          await c.annotate({ [PARALLELISM]: '0', [PREDOWNLOAD]: 'always', [MIN_UPDATED]: 'half', [TIMEOUT]: '5m' });
          await c.setImage('app:v2');
          const { message } = await c.untilCondition('Stalled');
          for (const field of [PARALLELISM, PREDOWNLOAD, MIN_UPDATED, TIMEOUT])
            assert.ok(message?.includes(field), field);
          await c.untilEvent('InvalidPolicy');
          await c.expectNoUpdatesFor(1);
        },
        { nodes: 1 },
      );

      rule('cost nothing once all is done', async (c) => {
        await c.startRollout('app:v2', budgeted(kind, 3, required));
        await finished(c, 'app:v2');
        await untilQuiet(c);
      });

      if (kind === 'native')
        rule('are given up when the DaemonSet is opted out, and no pod is left with a request', async (c) => {
          await c.rolledOut(budgeted(kind, 1, required));
          await c.cluster.behave(c.nodes, { startMs: 60_000 });
          await c.setImage('app:v2');
          await untilPulling(c);
          await c.annotate({ [strategyKey]: null });
          await untilClean(c);
          await c.until('no pod asks', async () =>
            (await Promise.all(c.nodes.map((node) => outcomeOn(c, node)))).every((one) => one === undefined),
          );
        });

      if (kind === 'advanced')
        rule('are there before a pod is changed in place', async (c) => {
          const rollingUpdate = { maxUnavailable: 2, rollingUpdateType: 'InPlaceIfPossible' as const };
          await c.rolledOut({ annotations: required, rollingUpdate });
          const before = (await c.pods()).map(({ uid }) => uid).toSorted();
          await c.setImage('app:v2');
          await finished(c, 'app:v2');
          assert.deepEqual((await c.pods()).map(({ uid }) => uid).toSorted(), before, 'the pods are the same');
          await assertAhead(c);
          assert.equal((await pulledPods(c)).length, 3);
        });
    },
    { kind },
  );
