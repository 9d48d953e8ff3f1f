import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AuditRecord } from '../../test/conformance/index.ts';
import { rolloutWrites, slotTimes } from './audit-log.ts';
import { auditRecord } from './testing/audit-record.ts';

const question = { namespace: 'edge', app: 'app', user: 'manager', since: 1000 };

/** A write of the DaemonRollout: nodes whose update was not carried out yet, and those where it was. */
const rollout = (at: number, open: string[], done: string[] = [], fields: Partial<AuditRecord> = {}): AuditRecord => {
  const reservations = [
    ...open.map((node) => ({ node, carriedOut: false })),
    ...done.map((node) => ({ node, carriedOut: true })),
  ];
  const request = { status: { reservations } };
  return auditRecord(at, { group: 'edgeset.io', resource: 'daemonrollouts/status', request, ...fields });
};

it('names each node with the write that was the first to reserve its slot', () => {
  const records = [
    rollout(900, ['before']),
    rollout(1300, ['c', 'b'], ['a', 'before']),
    rollout(1000, ['a'], ['before']),
    rollout(1050, ['refused'], [], { code: 409 }),
    rollout(1060, ['other'], [], { namespace: 'other' }),
    rollout(1070, ['other'], [], { user: 'other' }),
    auditRecord(1080, { group: 'edgeset.io', resource: 'daemonrollouts', verb: 'get' }),
    rollout(1100, ['a', 'b']),
    auditRecord(1400, { group: 'edgeset.io', resource: 'daemonrollouts/status', request: { status: {} } }),
  ];
  assert.deepEqual(rolloutWrites(records, question), [
    { receivedAt: 1000, answeredAt: 1010, reserves: ['a'] },
    { receivedAt: 1100, answeredAt: 1110, reserves: ['b'] },
    { receivedAt: 1300, answeredAt: 1310, reserves: ['c'] },
    { receivedAt: 1400, answeredAt: 1410, reserves: [] },
  ]);
});

it('says when the write that took a slot was received and answered', () => {
  let version = 0;
  const pod = (at: number, uid: string, ready: boolean, fields: Partial<AuditRecord>, deleted = false): AuditRecord =>
    auditRecord(at, {
      ...fields,
      response: {
        kind: 'Pod',
        metadata: {
          uid,
          labels: { app: 'app' },
          resourceVersion: String((version += 1)),
          ...(deleted && { deletionTimestamp: 'then' }),
        },
        spec: { nodeName: 'a' },
        status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
      },
    });
  const records = [
    pod(500, 'old', true, { user: 'kubelet', resource: 'pods/status', verb: 'patch' }),
    pod(1200, 'old', true, { verb: 'delete' }, true),
    pod(1400, 'new', false, { verb: 'create', code: 201 }),
    pod(6000, 'new', true, { user: 'kubelet', resource: 'pods/status', verb: 'patch' }),
  ];
  assert.deepEqual(slotTimes(records, { ...question, slot: 'down' }), [
    { node: 'a', requestedAt: 1200, from: 1210, to: 6010, lagMs: 200, began: 2, ended: 4, ours: true },
  ]);
});
