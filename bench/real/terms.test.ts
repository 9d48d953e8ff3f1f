import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AuditRecord } from '../../test/conformance/index.ts';
import { termsOf } from './terms.ts';

const record = (receivedAt: number, fields: Partial<AuditRecord>): AuditRecord => ({
  receivedAt,
  answeredAt: receivedAt + 10,
  user: 'manager',
  userAgent: '',
  verb: 'update',
  group: '',
  resource: 'pods',
  namespace: 'edge',
  name: 'app',
  code: 200,
  request: undefined,
  response: {},
  ...fields,
});

const lease = (at: number, holderIdentity: string, fields: Partial<AuditRecord> = {}): AuditRecord =>
  record(at, { group: 'coordination.k8s.io', resource: 'leases', response: { spec: { holderIdentity } }, ...fields });
const deleted = (at: number, app: string, fields: Partial<AuditRecord> = {}): AuditRecord =>
  record(at, { verb: 'delete', response: { metadata: { labels: { app } } }, ...fields });

it('tells the terms of managers, with what each wrote first', () => {
  const records = [
    record(50, { resource: 'daemonrollouts/status' }),
    lease(100, 'first', { verb: 'create' }),
    record(105, { resource: 'events' }),
    record(110, { resource: 'daemonrollouts/status' }),
    deleted(130, 'a', { code: 409 }),
    deleted(140, 'a'),
    deleted(150, 'a'),
    deleted(145, 'b', { user: 'other' }),
    lease(200, 'first'),
    deleted(210, 'b'),
    lease(250, ''),
    lease(290, 'third', { code: 409, response: { kind: 'Status' } }),
    lease(300, 'second'),
    record(310, { verb: 'get', resource: 'daemonrollouts' }),
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
