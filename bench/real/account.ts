import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from '../../test/conformance/index.ts';
import type { Down } from '../measure/slots.ts';

const isChange = ({ code, group, resource, response }: AuditRecord): boolean =>
  code >= 200 &&
  code < 300 &&
  group === '' &&
  resource.startsWith('pods') &&
  (response as Pod | undefined)?.kind === 'Pod';

const versionOf = ({ response }: AuditRecord): number => Number((response as Pod).metadata?.resourceVersion ?? 0);

const nodeOf = ({ spec }: Pod): string => {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return spec?.nodeName ?? required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0] ?? '';
};

const isUp = ({ metadata, status }: Pod): boolean =>
  metadata?.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false);

export interface Question {
  namespace: string;
  /** Label `app` of the pods. */
  app: string;
  /** Whose deletes are acts. */
  user: string;
  /** ms since the epoch. */
  since: number;
}

/** The times in which nodes had no available pod of a DaemonSet, as the API server's log has it. */
export const downTimes = (records: readonly AuditRecord[], { namespace, app, user, since }: Question): Down[] => {
  const upOn = new Map<string, Set<string>>();
  const began = new Map<string, Pick<Down, 'from' | 'began' | 'ours'>>();
  const downs: Down[] = [];
  const changes = records
    .filter((record) => record.namespace === namespace && isChange(record))
    .toSorted((a, b) => versionOf(a) - versionOf(b));
  for (const record of changes) {
    const { answeredAt } = record;
    const pod = record.response as Pod;
    if (pod.metadata?.labels?.app !== app) continue;
    const node = nodeOf(pod);
    const up = upOn.get(node) ?? new Set<string>();
    upOn.set(node, up);
    const wasUp = up.size > 0;
    if (isUp(pod)) up.add(pod.metadata.uid ?? '');
    else up.delete(pod.metadata.uid ?? '');
    const ours = record.verb === 'delete' && record.user === user;
    if (wasUp && up.size === 0) began.set(node, { from: answeredAt, began: versionOf(record), ours });
    const start = began.get(node);
    if (!wasUp && up.size > 0 && start !== undefined && start.from >= since)
      downs.push({ node, ...start, to: answeredAt, ended: versionOf(record) });
  }
  return downs;
};

export interface Calls {
  deletes: number;
  /** Writes of rollout objects: reservations and status. */
  rollouts: number;
  events: number;
  otherWrites: number;
  /** Gets and lists; watches are streams that stay open. */
  reads: number;
}

/** What one user asked of the API server from `since` on. */
export const callsOf = (records: readonly AuditRecord[], user: string, since: number): Calls => {
  const calls: Calls = { deletes: 0, rollouts: 0, events: 0, otherWrites: 0, reads: 0 };
  for (const { user: who, verb, resource, receivedAt } of records) {
    if (who !== user || receivedAt < since || verb === 'watch') continue;
    if (verb === 'get' || verb === 'list') calls.reads += 1;
    else if (verb === 'delete' && resource === 'pods') calls.deletes += 1;
    else if (resource.startsWith('daemonrollouts')) calls.rollouts += 1;
    else if (resource === 'events') calls.events += 1;
    else calls.otherWrites += 1;
  }
  return calls;
};
