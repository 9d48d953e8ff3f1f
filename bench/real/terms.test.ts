import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AuditRecord } from '../../test/conformance/index.ts';
import { termsOf } from './terms.ts';
import { auditRecord } from './testing/audit-record.ts';

const lease = (at: number, holderIdentity: string, fields: Partial<AuditRecord> = {}): AuditRecord =>
  auditRecord(at, {
    group: 'coordination.k8s.io',
    resource: 'leases',
    response: { spec: { holderIdentity } },
    ...fields,
  });
const deleted = (at: number, app: string, fields: Partial<AuditRecord> = {}): AuditRecord =>
  auditRecord(at, { verb: 'delete', response: { metadata: { labels: { app } } }, ...fields });

it('tells the terms of managers, with what each wrote first', () => {
  const records = [
    auditRecord(50, { resource: 'daemonrollouts/status' }),
    lease(100, 'first', { verb: 'create' }),
    auditRecord(105, { resource: 'events' }),
    auditRecord(110, { resource: 'daemonrollouts/status' }),
    deleted(130, 'a', { code: 409 }),
    deleted(140, 'a'),
    deleted(150, 'a'),
    deleted(145, 'b', { user: 'other' }),
    lease(200, 'first'),
    deleted(210, 'b'),
    lease(250, ''),
    lease(290, 'third', { code: 409, response: { kind: 'Status' } }),
    lease(300, 'second'),
    auditRecord(310, { verb: 'get', resource: 'daemonrollouts' }),
    deleted(320, 'b'),
  ];
  assert.deepEqual(termsOf(records.toReversed(), 'manager'), [
    {
      holder: 'first',
      leaseAt: 100,
      firstWriteAt: 110,
      firstDeletes: new Map([
        ['a', 140],
        ['b', 210],
      ]),
    },
    { holder: 'second', leaseAt: 300, firstWriteAt: 320, firstDeletes: new Map([['b', 320]]) },
  ]);
});
