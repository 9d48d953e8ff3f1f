import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeError, nodes } from '../../../kube/index.ts';
import { withFleet } from '../testing/fleet.ts';

const quota = () => new KubeError('Forbidden', 'exceeded quota', { status: 403 });

describe('new pods', () => {
  it(
    'that are refused, and no longer wanted, stall nothing',
    withFleet(async (fleet) => {
      await fleet.create();
      await fleet.allRun('app:v1');
      await fleet.patch({ spec: { updateStrategy: { rollingUpdate: { paused: true } } } });
      await fleet.setImage('app:v2');
      fleet.faults.push({ verb: 'create', plural: 'pods', error: quota(), left: 1_000 });
      fleet.cluster.addNode('node-4', { labels: { name: 'node-4' } });
      await fleet.until('condition Stalled is True', fleet.stalled);
      await fleet.client.delete(nodes, { name: 'node-4' });
      await fleet.until('condition Stalled is False', async () => (await fleet.stalled()) === undefined);
      await fleet.until('so says the DaemonRollout', async () => (await fleet.rollout()).status?.summary === 'Paused');
    }),
  );

  it(
    'that are refused beside the old ones stall both objects until they are accepted',
    withFleet(async (fleet) => {
      await fleet.create({ updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } });
      await fleet.allRun('app:v1');
      const fault = { verb: 'create', plural: 'pods', error: quota(), left: 1_000 };
      fleet.faults.push(fault);
      await fleet.setImage('app:v2');
      const condition = await fleet.until('condition Stalled is True', fleet.stalled);
      assert.match(condition.message, /exceeded quota/);
      await fleet.until('the DaemonRollout says the same', async () =>
        (await fleet.rollout()).status?.conditions?.some(
          ({ type, message }) => type === 'Stalled' && message === condition.message,
        ),
      );
      assert.equal((await fleet.get()).status?.numberAvailable, 3);
      fault.left = 0;
      await fleet.allRun('app:v2');
      await fleet.until('condition Stalled is False', async () => (await fleet.stalled()) === undefined);
    }),
  );

  it(
    'that are refused are retried while other events come in',
    withFleet(async (fleet) => {
      fleet.faults.push({ verb: 'create', plural: 'pods', error: quota(), left: 1, delayMs: 900 });
      await fleet.create();
      await fleet.until('a creation is in flight', async () => fleet.count('create', 'pods') === 1);
      await fleet.client.patch(
        nodes,
        { name: 'node-1' },
        { metadata: { labels: { any: 'thing' } } },
        { type: 'merge' },
      );
      await fleet.patch({ metadata: { annotations: { 'edgeset.io/settle-seconds': '1' } } });
      const since = fleet.clock.now();
      await fleet.allRun('app:v1');
      assert.ok(fleet.clock.now() - since < 5_000);
    }),
  );
});
