import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from './audit-record.ts';

const uidAskedFor = ({ request }: AuditRecord): string | undefined =>
  (request as { preconditions?: { uid?: string } } | undefined)?.preconditions?.uid;

const succeeded = ({ code }: AuditRecord): boolean => code >= 200 && code < 300;

/** A refusal is certain; the outcome of a failure, or of a call without a status, is not. */
const isUnclear = ({ code }: AuditRecord): boolean => code < 200 || code >= 499;

/** UIDs of the pods that calls without a response may have deleted. */
export const maybeDeletedBy = (calls: readonly AuditRecord[]): ReadonlySet<string | undefined> =>
  new Set(
    calls.filter((call) => call.verb === 'delete' && call.resource === 'pods' && isUnclear(call)).map(uidAskedFor),
  );

/**
 * Tracks pods of a namespace that are terminating, whoever wrote them. The API server logs a delete whose caller was cut off
 * or killed as failed even if it was executed: the state of the pod decides.
 */
export const trackDeletedPods = (namespace: string) => {
  const pods = new Map<string, Pod>();
  return {
    note(record: AuditRecord): void {
      if (record.namespace !== namespace || record.group !== '' || !/^pods\b/.test(record.resource)) return;
      const pod = record.response as Pod | undefined;
      const uid = pod?.metadata?.uid;
      if (pod && uid !== undefined && pod.metadata?.deletionTimestamp) pods.set(uid, pod);
    },
    /** The delete calls that were executed, each with the pod as its response. */
    deletesIn(calls: readonly AuditRecord[]): AuditRecord[] {
      const confirmed = calls.filter(succeeded);
      const known = new Set(confirmed.map((call) => (call.response as Pod | undefined)?.metadata?.uid));
      return calls.flatMap((call) => {
        if (succeeded(call)) return [call];
        const uid = isUnclear(call) ? uidAskedFor(call) : undefined;
        const pod = uid === undefined || known.has(uid) ? undefined : pods.get(uid);
        if (!pod) return [];
        known.add(uid);
        return [{ ...call, response: pod }];
      });
    },
  };
};
