import type { AuditRecord } from '../../judge/audit/audit-record.ts';
import { isPullCall } from '../../judge/audit/check-image-pulls.ts';
import { trackDeletedPods } from '../../judge/audit/deleted-pods.ts';
import { followRecords, inOrder } from '../../judge/audit/records.ts';
import { createPodWriteReader, type PodWrite } from '../../judge/state/pod-writes.ts';
import type { Audit } from '../cluster.ts';

interface HistoryOptions {
  audit: Audit;
  namespace: string;
  nodes: ReadonlySet<string>;
  /** The managers' common user. */
  user: string;
}

/** The part of the audit log that concerns one case: the log of a whole suite is long, and read many times a second. */
export const createHistory = ({ audit, namespace, nodes, user }: HistoryOptions) => {
  /** Indexes in the log: a record may be completed there later. */
  const places: number[] = [];
  const leaving = trackDeletedPods(namespace);
  let readTo = 0;

  const concerns = (record: AuditRecord): boolean =>
    record.namespace === namespace ||
    record.user === user ||
    (record.resource.startsWith('nodes') && nodes.has(record.name));

  const read = async (): Promise<AuditRecord[]> => {
    const all = await audit.read();
    for (; readTo < all.length; readTo += 1) {
      const record = all[readTo];
      if (!record || !concerns(record)) continue;
      places.push(readTo);
      leaving.note(record);
    }
    return places.flatMap((place) => all[place] ?? []);
  };

  const calls = async (): Promise<AuditRecord[]> => (await read()).filter((record) => record.user === user);

  /** Deletes of pods, including those whose response was lost; without pull pods. */
  const deletes = async (): Promise<AuditRecord[]> =>
    leaving.deletesIn(
      (await calls()).filter(
        (call) => call.verb === 'delete' && call.group === '' && call.resource === 'pods' && !isPullCall(call),
      ),
    );

  return {
    calls,
    deletes,
    /** The managers' writes to the pods of a DaemonSet, including executed ones whose response was lost. */
    async steps(group: string, daemonSet: string): Promise<PodWrite[]> {
      const [records, found] = [await read(), await deletes()];
      const lost = found.filter(({ code }) => code < 200 || code >= 300).map((record) => ({ ...record, code: 200 }));
      const { state, apply } = followRecords(namespace, daemonSet, group);
      const reader = createPodWriteReader(state);
      return inOrder([...lost, ...records]).flatMap((record) => {
        const step = record.user === user && !isPullCall(record) ? reader.read(record) : undefined;
        apply(record);
        return step && step.kind !== 'continue' ? [step] : [];
      });
    },
  };
};
