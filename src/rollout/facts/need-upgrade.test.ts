import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UPGRADE_APPROVED } from '../../words/index.ts';
import { type Announcement, announcementPatch, approvedRevision, isAnnounced } from './need-upgrade.ts';

const START = Date.parse('2030-01-01T00:00:00Z');

const podWith = (status: string, message: string) => ({
  status: { conditions: [{ type: UPGRADE_APPROVED, status, message }] },
});

describe('approvedRevision', () => {
  it('returns the revision that the message names, and undefined unless the status is True', () => {
    assert.equal(approvedRevision(podWith('True', 'controllerrevision: b2')), 'b2');
    assert.equal(approvedRevision(podWith('True', 'controllerrevision: b2; by uid:0')), 'b2');
    assert.equal(approvedRevision(podWith('False', 'controllerrevision: b2')), undefined);
    assert.equal(approvedRevision(podWith('True', 'controllerrevision: ')), undefined);
    assert.equal(approvedRevision(podWith('True', 'yes')), undefined);
    assert.equal(approvedRevision({}), undefined);
  });
});

describe('announcementPatch', () => {
  const announced = { status: 'True', reason: 'NewRevision', message: 'controllerrevision: b' };
  const uid = 'u1';
  const wanted: Announcement = { reason: 'NewRevision', revision: 'b' };

  it('names the pod and changes one condition, whose time changes only with its status', () => {
    assert.deepEqual(announcementPatch({ uid, announced: undefined }, wanted, START + 12), {
      metadata: { uid },
      status: {
        conditions: [
          {
            type: 'PodNeedUpgrade',
            status: 'True',
            reason: 'NewRevision',
            message: 'controllerrevision: b',
            lastTransitionTime: '2030-01-01T00:00:00Z',
          },
        ],
      },
    });
    assert.ok(isAnnounced(announced, wanted));
    assert.deepEqual(announcementPatch({ uid, announced }, { ...wanted, reason: 'Halted' }, START), {
      metadata: { uid },
      status: {
        conditions: [{ type: 'PodNeedUpgrade', status: 'True', reason: 'Halted', message: 'controllerrevision: b' }],
      },
    });
  });

  it('removes the condition by its type', () => {
    assert.deepEqual(announcementPatch({ uid, announced: announced }, 'none', START), {
      metadata: { uid },
      status: { conditions: [{ type: 'PodNeedUpgrade', $patch: 'delete' }] },
    });
  });

  it('removes an approval of another revision', () => {
    const patched = (approved: string | undefined, revision: string | undefined): unknown => {
      const next = revision === undefined ? 'none' : ({ reason: 'NewRevision', revision } as const);
      const pod = { uid: 'u', announced: undefined, ...(approved !== undefined && { approved }) };
      const { status } = announcementPatch(pod, next, 0) as { status: { conditions: unknown[] } };
      return status.conditions.slice(1);
    };
    const removed = [{ type: UPGRADE_APPROVED, $patch: 'delete' }];
    assert.deepEqual(patched('b', 'b'), []);
    assert.deepEqual(patched(undefined, 'c'), []);
    assert.deepEqual(patched('b', 'c'), removed);
    assert.deepEqual(patched('b', undefined), removed);
  });
});
