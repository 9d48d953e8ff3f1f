import assert from 'node:assert/strict';
import { section } from '../kit/index.ts';

export const recorded = section(
  'History of Advanced DaemonSets',
  (rule) => {
    rule('rollouts in place are recorded, and one that an older template replaces is undone', async (c) => {
      const inPlace = { rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 1 } as const;
      await c.rolledOut({ rollingUpdate: inPlace });
      const path = `/apis/apps.kruise.io/v1beta1/namespaces/${c.namespace}/daemonsets/app?fieldManager=alice-laptop`;
      await c.api.edit(path, [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'app:v2' }]);
      await c.untilRunning('app:v2');
      await c.until('it is complete', async () => (await c.status()).history?.[0]?.allNodesUpdatedAt);
      const [entry] = (await c.status()).history ?? [];
      const { rollout, result, nodes, failures, from, to, changedBy } = entry ?? {};
      assert.deepEqual({ rollout, result, nodes, failures }, { rollout: 2, result: 'Complete', nodes: 3, failures: 0 });
      assert.deepEqual([from?.images, to?.images, changedBy?.manager], [['app:v1'], ['app:v2'], 'alice-laptop']);

      await c.setImage('app:v3--never-ready');
      await c.untilUpdates(4);
      await c.setImage('app:v2');
      await c.untilRunning('app:v2');
      await c.until('it has ended', async () => (await c.status()).history?.[0]?.result === 'Complete');
      assert.deepEqual(
        (await c.status()).history?.map((each) => each.result),
        ['Complete', 'Undone', 'Complete', 'Complete'],
      );
    });
  },
  { kind: 'advanced' },
);
