import type { AuditRecord } from '../audit/audit-record.ts';
import { isPullCall } from '../audit/check-image-pulls.ts';
import { followClusterState, inOrder } from '../audit/cluster-state.ts';
import { trackDeletedPods } from '../audit/deleted-pods.ts';
import { createPodWriteReader, type PodWrite } from '../audit/pod-writes.ts';
import type { Audit } from '../cluster.ts';

interface HistoryOptions {
  audit: Audit;
  namespace: string;
  nodes: ReadonlySet<string>;
  /** The managers' common user. */
  user: string;
}

/** What one case's part of the cluster has seen: the log of a whole suite grows long, and is asked for many times a second. */
export const createHistory = ({ audit, namespace, nodes, user }: HistoryOptions) => {
  /** Places in the log: whose doing a write was may be told there later than the write itself. */
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

  /** Pods that were deleted, also where the answer was lost; without those that pull images. */
  const deletes = async (): Promise<AuditRecord[]> =>
    leaving.deletesIn(
      (await calls()).filter(
        (call) => call.verb === 'delete' && call.group === '' && call.resource === 'pods' && !isPullCall(call),
      ),
    );

  return {
    calls,
    deletes,
    /** What the managers' writes to the pods of a DaemonSet were, those with a lost answer included that were carried out. */
    async steps(group: string, daemonSet: string): Promise<PodWrite[]> {
      const [records, found] = [await read(), await deletes()];
      const lost = found.filter(({ code }) => code < 200 || code >= 300).map((record) => ({ ...record, code: 200 }));
      const { state, apply } = followClusterState(namespace, daemonSet, group);
      const reader = createPodWriteReader(state);
      return inOrder([...lost, ...records]).flatMap((record) => {
        const step = record.user === user && !isPullCall(record) ? reader.read(record) : undefined;
        apply(record);
        return step && step.kind !== 'continue' ? [step] : [];
      });
    },
  };
};
