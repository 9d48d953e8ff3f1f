import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock } from '../../../test/support/index.ts';
import { isKubeError } from '../../kube/index.ts';
import { createTestApi } from '../testing/api.ts';
import { testRef } from '../testing/fixtures.ts';
import { createRolloutObject, daemonRollouts, RolloutObjectError } from './daemon-rollout.ts';

const owner = { ...testRef, uid: 'set-1' };
const reservations = [{ node: 'n1', podUID: 'p', rollout: 1, at: '2026-01-01T00:00:00.000Z', carriedOut: true }];
const prepare = () => {
  const api = createTestApi(createTestClock());
  return { api, object: createRolloutObject(api.client, owner) };
};

describe('a DaemonRollout', () => {
  it('is created, with its DaemonSet as owner, if there is none', async () => {
    const { api, object } = prepare();
    assert.equal(await object.load({}), undefined);
    const [made] = api.objects.all(daemonRollouts);
    assert.equal(made?.metadata?.ownerReferences?.[0]?.uid, 'set-1');
    assert.equal(made?.metadata?.ownerReferences?.[0]?.controller, true);
    await object.write({ summary: 'x', reservations }, {});
    const second = createRolloutObject(api.client, owner);
    assert.deepEqual(await second.load({}), { summary: 'x', reservations });
    assert.deepEqual(api.sent('create', 'daemonrollouts'), ['app.test']);
  });

  it('is written only on top of what was read: the second of two writers is refused', async () => {
    const { api, object } = prepare();
    await object.load({});
    const other = createRolloutObject(api.client, owner);
    await other.load({});
    await other.write({ summary: 'theirs' }, {});
    await assert.rejects(object.write({ summary: 'ours' }, {}), (error) => isKubeError(error, 'Conflict'));
    await object.load({});
    await object.write({ summary: 'ours' }, {});
    await object.write({ summary: 'ours again' }, {});
  });

  it('is never written before it is read', async () => {
    const { object } = prepare();
    await assert.rejects(object.write({}, {}), /loaded before/);
    await object.load({});
    object.forget();
    await assert.rejects(object.write({}, {}), /loaded before/);
    assert.equal(object.status, undefined);
  });

  it('of another DaemonSet is not used', async () => {
    const { api, object } = prepare();
    await createRolloutObject(api.client, { ...owner, uid: 'set-0' }).load({});
    await assert.rejects(object.load({}), (error) => error instanceof RolloutObjectError && error.code === 'NotOurs');
    assert.equal(object.loaded, false);
  });

  it('that was orphaned with the pods of its DaemonSet is replaced', async () => {
    const { api, object } = prepare();
    const ref = { namespace: owner.namespace, name: owner.rolloutName };
    const before = createRolloutObject(api.client, { ...owner, uid: 'set-0' });
    await before.load({});
    await before.write({ observedGeneration: 7, summary: 'of before' }, {});
    api.objects.patch(daemonRollouts, ref, { metadata: { ownerReferences: null } });
    assert.equal(await object.load({}), undefined);
    const { metadata } = await api.client.get(daemonRollouts, ref);
    assert.equal(metadata.ownerReferences?.[0]?.uid, owner.uid);
    await assert.rejects(before.write({ summary: 'late' }, {}), 'the holder of the old one cannot write the new one');
  });

  it('of a DaemonSet of another kind, which can have none of this name, is replaced', async () => {
    const { api, object } = prepare();
    const ref = { namespace: owner.namespace, name: owner.rolloutName };
    await createRolloutObject(api.client, { ...owner, apiVersion: 'other.io/v1', uid: 'set-0' }).load({});
    assert.equal(await object.load({}), undefined);
    assert.equal((await api.client.get(daemonRollouts, ref)).metadata.ownerReferences?.[0]?.uid, owner.uid);
  });

  it('that another client created without an owner is left alone', async () => {
    const { api, object } = prepare();
    const ref = { namespace: owner.namespace, name: owner.rolloutName };
    await createRolloutObject(api.client, { ...owner, uid: 'set-0' }).load({});
    api.objects.patch(daemonRollouts, ref, { metadata: { ownerReferences: null, labels: null } });
    await assert.rejects(object.load({}), (error) => error instanceof RolloutObjectError && error.code === 'NotOurs');
  });

  it('reports reservations that were not kept', async () => {
    const { api, object } = prepare();
    await object.load({});
    api.objects.prune('daemonrollouts', (stored) => ({ ...stored, status: {} }));
    await object.write({ summary: 'dropped' }, {});
    await assert.rejects(
      object.write({ reservations }, {}),
      (error) => error instanceof RolloutObjectError && error.code === 'NotKept',
    );
  });
});
