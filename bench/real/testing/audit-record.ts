import type { AuditRecord } from '../../../test/conformance/index.ts';

/** A successful update by the manager, answered after 10 ms; `fields` says what else it was. */
export const auditRecord = (receivedAt: number, fields: Partial<AuditRecord>): AuditRecord => ({
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
