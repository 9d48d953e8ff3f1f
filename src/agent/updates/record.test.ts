import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Decision } from '../types.ts';
import { currentPod, nextRecord, type UpdateRecord } from './record.ts';

const owner = { namespace: 'default', daemonSet: 'app', apiVersion: 'apps/v1', uid: 'ds' };

interface Shape {
  uid: string;
  revision: string;
  told?: string;
  status?: 'True' | 'False';
  terminating?: boolean;
  at?: string;
}

const pod = ({ uid, revision, told, status = 'True', terminating, at = '2026-01-01T00:00:00Z' }: Shape): Pod => ({
  metadata: {
    uid,
    name: uid,
    creationTimestamp: at,
    labels: { 'controller-revision-hash': revision },
    ...(terminating && { deletionTimestamp: at }),
  },
  spec: { containers: [{ name: 'app', image: `app:${revision}` }] },
  status: {
    conditions: told
      ? [
          {
            type: 'PodNeedUpgrade',
            status,
            reason: status === 'True' ? 'NewRevision' : 'UpToDate',
            message: `controllerrevision: ${told}`,
          },
        ]
      : [],
  },
});

const decision: Decision = {
  namespace: 'default',
  daemonSet: 'app',
  id: 1,
  revision: 'two',
  decision: { choice: 'approve', when: { type: 'now' } },
  by: { identity: 'uid:0', via: 'loopback' },
  at: '2026-01-01T00:00:00Z',
  state: 'done',
};
const updateInProgress = { decision, fromRevision: 'one', toRevision: 'two', startedAt: 0 };
const waiting = (): UpdateRecord => {
  const known = nextRecord(owner, [pod({ uid: 'a', revision: 'one', told: 'two' })], undefined);
  assert.ok(known);
  return {
    ...known,
    details: {
      images: [{ container: 'app', image: 'app:two' }],
      publishedAt: '2026-01-02T00:00:00Z',
      notes: 'Faster.',
    },
  };
};

describe('the record of a DaemonSet', () => {
  it('does not exist without an announcement', () => {
    assert.equal(nextRecord(owner, [pod({ uid: 'a', revision: 'one' })], undefined), undefined);
    assert.equal(nextRecord(owner, [], undefined), undefined);
  });

  it('ends when the announcement is removed, or the pod disappears without an update', () => {
    assert.equal(nextRecord(owner, [pod({ uid: 'a', revision: 'one' })], waiting()), undefined);
    assert.equal(nextRecord(owner, [], waiting()), undefined);
  });

  it("continues during an update: without a pod, with a pod without announcement, and with the pod's announcement", () => {
    const gone = nextRecord(owner, [], { ...waiting(), updateInProgress });
    assert.partialDeepStrictEqual(gone, { running: { revision: 'one' }, announced: { need: 'yes' }, updateInProgress });
    const fresh = nextRecord(owner, [pod({ uid: 'b', revision: 'two' })], gone);
    assert.partialDeepStrictEqual(fresh, {
      running: { revision: 'two' },
      announced: { need: 'no', revision: 'two' },
      updateInProgress,
    });
    const told = nextRecord(owner, [pod({ uid: 'b', revision: 'two', told: 'two', status: 'False' })], fresh);
    assert.partialDeepStrictEqual(told, {
      announced: { need: 'no' },
      details: { publishedAt: '2026-01-02T00:00:00Z', notes: 'Faster.' },
    });
  });

  it('keeps details of the current target only, and does not wait for an update to an older one', () => {
    const newer = nextRecord(owner, [pod({ uid: 'a', revision: 'one', told: 'three' })], {
      ...waiting(),
      updateInProgress,
    });
    assert.partialDeepStrictEqual(newer, { announced: { revision: 'three' }, details: null, updateInProgress: null });
  });

  it('is reset when the DaemonSet is recreated with the same name', () => {
    const again = nextRecord({ ...owner, uid: 'other' }, [pod({ uid: 'c', revision: 'one' })], waiting());
    assert.equal(again, undefined);
  });

  it('uses the newest pod that is not terminating', () => {
    const old = pod({ uid: 'a', revision: 'one', terminating: true, at: '2026-01-03T00:00:00Z' });
    const first = pod({ uid: 'b', revision: 'two', at: '2026-01-01T00:00:00Z' });
    const second = pod({ uid: 'c', revision: 'two', at: '2026-01-02T00:00:00Z' });
    assert.equal(currentPod([old, first, second])?.metadata?.uid, 'c');
    assert.equal(currentPod([old])?.metadata?.uid, 'a');
  });
});
