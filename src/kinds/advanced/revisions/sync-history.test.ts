import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controllerRevisions } from '../../../kube/index.ts';
import { NAMESPACE, withFleet } from '../testing/fleet.ts';

describe('a revision', () => {
  it(
    'whose name is taken gets another one, and the collision is counted',
    withFleet(async (fleet) => {
      await fleet.create();
      await fleet.allRun('app:v1');
      const first = (await fleet.get()).status?.updateRevision ?? '';
      const stranger = await fleet.client.get(controllerRevisions, { namespace: NAMESPACE, name: `app-${first}` });
      await fleet.client.delete(controllerRevisions, { namespace: NAMESPACE, name: `app-${first}` });
      const { ownerReferences: _, uid: __, resourceVersion: ___, ...metadata } = stranger.metadata ?? {};
      await fleet.client.create(controllerRevisions, {
        ...stranger,
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: { ...metadata, labels: { other: 'one' } },
        data: { other: 'data' },
      });
      await fleet.setImage('app:v2');
      await fleet.allRun('app:v2');
      await fleet.setImage('app:v1');
      await fleet.allRun('app:v1');
      const { status } = await fleet.get();
      assert.equal(status?.collisionCount, 1);
      assert.notEqual(status.updateRevision, first);
    }),
  );
});
