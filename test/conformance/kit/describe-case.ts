import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from '../../judge/audit/audit-record.ts';
import type { Case } from './case.ts';

/** The state of a case's pods and rollout, for people who investigate a failure. */
export const describeCase = async (c: Case): Promise<string> => {
  const [pods, rollout, steps] = await Promise.all([
    c.pods().catch(() => []),
    c.rollout().catch(() => undefined),
    c.podWrites().catch(() => []),
  ]);
  const { summary, target, causes, budget, failing, reservations } = rollout?.status ?? {};
  return [
    JSON.stringify({ summary, target, causes, budget, failing, reservations }),
    ...steps.map(({ kind, node, record, brings = '' }) =>
      [new Date(record.receivedAt).toISOString(), kind, node, record.name, brings].join(' '),
    ),
    ...pods.map(({ name, node, image, hash, ready, terminating, object }) => {
      const { conditions = [], containerStatuses = [] } = object.status ?? {};
      const state = { image, hash, ready, terminating, annotations: object.metadata?.annotations };
      const gates = conditions.map(({ type, status }) => `${type}=${status}`);
      return `${name} ${node} ${JSON.stringify({ ...state, gates, states: containerStatuses.map((one) => one.state) })}`;
    }),
  ].join('\n');
};

/** Every write to the pods of a namespace, by which user and with which outcome: what the audit log has of a case that failed. */
export const describePodCalls = (records: readonly AuditRecord[], namespace: string): string =>
  records
    .filter((record) => record.namespace === namespace && record.group === '' && record.resource.startsWith('pods'))
    .filter(({ verb }) => verb !== 'get' && verb !== 'list' && verb !== 'watch')
    .map(({ receivedAt, user, verb, resource, name, code, response }) => {
      const { uid = '', resourceVersion = '', deletionTimestamp } = (response as Pod | undefined)?.metadata ?? {};
      const ending = deletionTimestamp === undefined ? '' : 'terminating';
      return [new Date(receivedAt).toISOString(), user, verb, resource, name, code, uid, resourceVersion, ending].join(
        ' ',
      );
    })
    .join('\n');
