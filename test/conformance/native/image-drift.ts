import assert from 'node:assert/strict';
import { type Case, section } from '../kit/index.ts';
import { reportMovedTag } from '../kit/moved-tag.ts';
import { label } from '../kit/plans.ts';
import { edgeset, untilSaid } from '../plugin/run.ts';

const key = 'edgeset.io/on-image-drift';
const partition = 'edgeset.io/partition';

/** Two of four nodes run `app:v2`, and one of them has another content of it: the rollout halts. Returns that node. */
const haltedByDrift = async (c: Case): Promise<string> => {
  await c.startRollout('app:v2', { annotations: { [key]: 'halt', [partition]: '2' } });
  await c.untilUpdates(2);
  const [node = '', other = ''] = await c.updatedNodes();
  await c.untilRunning('app:v2', [node, other].toSorted());
  await reportMovedTag(c, node);
  const { reason, message } = await c.untilCondition('Halted');
  assert.equal(reason, 'ImageDrift');
  assert.match(message, /nodes run different content under the name of app:v2/);
  assert.equal((await c.status()).halted?.reason, 'ImageDrift');
  await c.untilWarning('RolloutHalted');
  await c.annotate({ [partition]: '0' });
  await c.expectNoUpdatesFor(2);
  assert.equal((await c.updates()).length, 2);
  return node;
};

const metric = async (c: Case): Promise<string | undefined> =>
  (await (await fetch(`${c.manager.metrics}/metrics`)).text())
    .split('\n')
    .find((line) => line.startsWith('edgeset_rollout_image_drift{'))
    ?.split(' ')
    .at(-1);

export const imageDrift = section('Images that differ between nodes', (rule) => {
  rule(
    'are reported with their IDs and numbers of nodes, and the rollout goes on',
    async (c) => {
      await c.startRollout('app:v2');
      await c.untilUpdates(1);
      const [node = ''] = await c.updatedNodes();
      await c.untilRunning('app:v2', [node]);
      await reportMovedTag(c, node);
      await c.untilComplete('app:v2');
      const { reason, message } = await c.untilCondition('ImageDrift');
      assert.equal(reason, 'ImagesDiffer');
      await c.until('the condition counts all nodes', async () =>
        /^Image app:v2 is not the same on all nodes of amd64: 2 nodes report sha256:[0-9a-f]{64}, 1 node reports sha256:f{64}\./.test(
          (await c.condition('ImageDrift'))?.message ?? '',
        ),
      );
      const event = await c.untilWarning('ImageDrift');
      assert.match(event.note ?? '', /^Image app:v2 is not the same on all nodes of amd64: /, message);
      assert.equal((await c.condition('Halted'))?.status, 'False');
      await untilSaid(
        c,
        /Note: Image app:v2 is not the same on all\s+nodes of amd64: 2 nodes report/,
        'explain',
        'app',
      );
      await c.until('the DaemonSet says so', async () =>
        (await c.daemonSet()).status?.conditions?.some(
          ({ type, status }) => type === 'ImageDrift' && status === 'True',
        ),
      );
      assert.match(
        (await edgeset(c, 'status', 'app')).stderr,
        /^Note: \S+\/app: Image app:v2 is not the same on all nodes/m,
      );
      assert.equal(await metric(c), '1');

      await c.api.remove(`/api/v1/namespaces/${c.namespace}/pods/${(await c.podOn(node)).name}`);
      const agreed = await c.untilCondition('ImageDrift', 'False');
      assert.deepEqual([agreed.reason, agreed.message], ['ImagesAgree', '']);
      await c.until('the DaemonSet says so', async () =>
        (await c.daemonSet()).status?.conditions?.some(
          ({ type, status }) => type === 'ImageDrift' && status === 'False',
        ),
      );
      assert.equal((await c.events('ImageDrift')).length, 1);
    },
    { nodes: 3 },
  );

  rule(
    'with halt, stop the rollout until they agree',
    async (c) => {
      const node = await haltedByDrift(c);
      await c.api.remove(`/api/v1/namespaces/${c.namespace}/pods/${(await c.podOn(node)).name}`);
      await c.untilCondition('Halted', 'False');
      await c.untilComplete('app:v2');
      assert.match((await c.untilEvent('RolloutResumed')).note ?? '', /no longer differ/);
      assert.equal((await c.events('RolloutHalted')).length, 1);
    },
    { nodes: 4 },
  );

  rule(
    'with halt, stop the rollout until a person resumes it, also under the next leader',
    async (c) => {
      await haltedByDrift(c);
      await c.annotate({ 'edgeset.io/resume': (await c.status()).target?.hash ?? '' });
      await c.untilCondition('Halted', 'False');
      assert.equal((await c.status()).driftForgiven, true);
      await c.manager.stop();
      await c.startManager();
      await c.untilComplete('app:v2');
      assert.equal((await c.condition('ImageDrift'))?.status, 'True');
      assert.equal((await c.events('RolloutHalted')).length, 1);
    },
    { nodes: 4 },
  );

  rule(
    'are compared within one architecture, and not where IDs have other forms',
    async (c) => {
      const [arm = '', other = ''] = c.nodes;
      await label(c, { 'kubernetes.io/arch': 'arm64' }, [arm]);
      await c.rolledOut({ annotations: { [key]: 'halt' } });
      await reportMovedTag(c, arm);
      const { name, object } = await c.podOn(other);
      const [first] = object.status?.containerStatuses ?? [];
      const imageID = `docker-pullable://registry.example/app@sha256:${'e'.repeat(64)}`;
      await c.api.patch(`/api/v1/namespaces/${c.namespace}/pods/${name}/status`, {
        status: { containerStatuses: [{ ...first, imageID }] },
      });
      // Something that the manager sees after both.
      await c.annotate({ [partition]: '1' });
      await c.until('the manager has seen the last change', async () => {
        const { generation } = (await c.daemonSet()).metadata ?? {};
        return (await c.status()).daemonSetGeneration === generation;
      });
      assert.equal((await c.condition('ImageDrift'))?.status, 'False');
      await label(c, { 'kubernetes.io/arch': 'amd64' }, [arm]);
      await c.untilCondition('ImageDrift');
      await c.untilCondition('Halted');
    },
    { nodes: 3 },
  );
});
