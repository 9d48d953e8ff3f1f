import assert from 'node:assert/strict';
import { refusePods, section, strategyKey } from '../kit/index.ts';

/** Longer than a request may be. */
export const longSelector = {
  matchLabels: { app: 'app' },
  // An Advanced DaemonSet may have 64 values in each.
  matchExpressions: Array.from({ length: 12 }, (_, list) => ({
    key: `shop-${list}`,
    operator: 'NotIn' as const,
    values: Array.from({ length: 64 }, (__, index) => `${'x'.repeat(50)}-${index}`),
  })),
};

export const warnings = section('Warnings', (rule) => {
  rule(
    'a rollback that the API server refuses is reported, and carried out once it is permitted',
    async (c) => {
      await c.rolledOut({ annotations: { 'edgeset.io/on-failure': 'rollback', 'edgeset.io/failure-threshold': '1' } });
      const permit = await refusePods(c, {
        operation: 'UPDATE',
        of: { group: 'apps', version: 'v1', resource: 'daemonsets' },
        expression: "!('edgeset.io/rolled-back-from' in object.metadata.?annotations.orValue({}))",
        message: 'no rollbacks on Fridays',
      });
      await c.setImage('app:v2--crash-loop');
      const event = await c.untilWarning('RollbackFailed');
      assert.match(event.note ?? '', /no rollbacks on Fridays/);
      await c.untilCondition('Halted');
      await permit();
      await c.untilRunning('app:v1');
      await c.untilEvent('RolledBack');
    },
    { nodes: 1, refusals: true, expected: /no rollbacks on Fridays/ },
  );

  rule(
    'a DaemonRollout of somebody else is in the way until it is removed',
    async (c) => {
      // The garbage collector removes one whose owner is gone, so the owner is there.
      const { metadata } = await c.create({ name: 'other', annotations: { [strategyKey]: null } });
      const path = `/apis/edgeset.io/v1alpha1/namespaces/${c.namespace}/daemonrollouts`;
      await c.api.create(path, {
        apiVersion: 'edgeset.io/v1alpha1',
        kind: 'DaemonRollout',
        metadata: {
          name: 'app',
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'other', uid: metadata?.uid, controller: true },
          ],
        },
      });
      await c.create();
      await c.untilRunning('app:v1');
      await c.setImage('app:v2');
      const event = await c.untilWarning('DaemonRolloutConflict', 150_000);
      assert.match(event.note ?? '', new RegExp(`kubectl delete daemonrollout app -n ${c.namespace}\\.`));
      assert.deepEqual(await c.updates(), []);
      await c.api.remove(`${path}/app`);
      await c.untilRunning('app:v2');
    },
    { nodes: 1, refusals: true, expected: /./ },
  );

  rule(
    'a selector that is too long for a request is reported, and nothing is updated',
    async (c) => {
      const { metadata, spec } = {
        metadata: { name: 'app', annotations: { 'apps.openyurt.io/update-strategy': 'auto' } },
        spec: {
          selector: longSelector,
          updateStrategy: { type: 'OnDelete' },
          template: {
            metadata: { labels: { app: 'app' } },
            spec: { nodeSelector: { case: c.namespace }, containers: [{ name: 'app', image: 'app:v1' }] },
          },
        },
      };
      await c.api.create(`/apis/apps/v1/namespaces/${c.namespace}/daemonsets`, {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata,
        spec,
      });
      await c.untilRunning('app:v1');
      const event = await c.untilEvent('InvalidPolicy');
      assert.match(event.note ?? '', /selector.*32/);
      await c.setImage('app:v2');
      await c.untilCondition('Stalled');
      await c.expectNoUpdatesFor(1);
    },
    { nodes: 1 },
  );

  rule(
    'a slot whose fence the API server refuses stays reserved, and is reported',
    async (c) => {
      await c.rolledOut();
      const permitDeletes = await refusePods(c, {
        operation: 'DELETE',
        expression: 'false',
        message: 'no pod may go',
      });
      await c.setImage('app:v2');
      const reserved = async () => {
        const { reservations = [] } = (await c.rollout())?.status ?? {};
        return reservations.length > 0 && reservations;
      };
      const reservations = await c.until('a slot is reserved', reserved, 60_000, 20);
      await c.untilEvent('FailedDelete');
      c.manager.kill('SIGKILL');
      await c.manager.exit;
      // As a manager leaves it that was killed before it knew the answer.
      const rollout = `/apis/edgeset.io/v1alpha1/namespaces/${c.namespace}/daemonrollouts/app`;
      await c.api.merge(`${rollout}/status`, { status: { reservations } });
      await c.annotate({ 'edgeset.io/paused': 'true' });
      const permit = await refusePods(c, {
        operation: 'UPDATE',
        expression: "!('edgeset.io/fence' in object.metadata.?annotations.orValue({}))",
        message: 'no annotations here',
      });
      await c.startManager();
      const event = await c.untilWarning('FailedFence');
      assert.match(event.note ?? '', /no annotations here/);
      assert.equal((await c.status()).reservations?.length, 1);
      await permit();
      await c.until('the slot is free', async () => (await c.status()).reservations?.length !== 1);
      await permitDeletes();
      await c.annotate({ 'edgeset.io/paused': null });
      await c.untilRunning('app:v2');
    },
    { nodes: 1, refusals: true },
  );

  rule(
    'a request for images that the API server refuses is reported, and made once it is permitted',
    async (c) => {
      await c.rolledOut({ annotations: { 'edgeset.io/predownload': 'required' } });
      const permit = await refusePods(c, {
        operation: 'UPDATE',
        subresource: 'status',
        expression: "!object.status.?conditions.orValue([]).exists(c, c.type == 'PodImageReady')",
        message: 'no requests here',
      });
      await c.setImage('app:v2');
      const event = await c.untilWarning('FailedImageRequest');
      assert.match(event.note ?? '', /no requests here/);
      assert.deepEqual(await c.updates(), []);
      await permit();
      await c.untilRunning('app:v2');
    },
    { nodes: 1, refusals: true, expected: /no requests here/ },
  );
});
