import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { DaemonRolloutStatus } from '../../src/words/index.ts';
import type { AuditRecord } from '../../test/conformance/index.ts';
import { isPodChange, isUp } from './audit-log.ts';
import type { SetStatus } from './workload.ts';

/** What the objects say once they tell the last change of the pods. */
export interface Told {
  /** Undefined for a DaemonSet whose status another controller writes. */
  daemonSet: ((status: SetStatus) => boolean) | undefined;
  rollout: (status: DaemonRolloutStatus) => boolean;
}

export interface Burst {
  namespace: string;
  /** Name of the DaemonSet, and label `app` of its pods. */
  app: string;
  rolloutName: string;
  /** The user whose writes are the product's. */
  user: string;
  /** When the burst began, ms since the epoch. */
  since: number;
  told: Told;
}

/** Milliseconds from the last change of a pod until an object told it. */
export interface Lag {
  daemonSet: number | undefined;
  rollout: number;
}

/** When one of the pods last became ready or not ready, terminated, or came to another revision. */
const lastChangeAt = (records: readonly AuditRecord[], { namespace, app, since }: Burst): number => {
  const states = new Map<string, string>();
  let last = 0;
  const ours = records.filter((record) => record.namespace === namespace && isPodChange(record));
  for (const { response, answeredAt } of ours.toSorted((a, b) => a.answeredAt - b.answeredAt)) {
    const pod = response as Pod;
    const { labels = {}, uid = '', deletionTimestamp } = pod.metadata ?? {};
    if (labels['app'] !== app) continue;
    const state = `${isUp(pod)} ${deletionTimestamp !== undefined} ${labels['controller-revision-hash']}`;
    if (states.get(uid) !== state && answeredAt >= since) last = answeredAt;
    states.set(uid, state);
  }
  return last;
};

/**
 * How long the objects took to tell a burst of changes that has ended, from the API server's audit log; undefined while the log
 * lacks a status.
 */
export const lagOf = (records: readonly AuditRecord[], burst: Burst): Lag | undefined => {
  const { namespace, app, rolloutName, user, since, told } = burst;
  const changedAt = lastChangeAt(records, burst);
  if (changedAt === 0) return undefined;
  const lagFor = (resource: string, name: string, says: (status: unknown) => boolean): number | undefined => {
    const first = records.find(
      (record) =>
        record.user === user &&
        record.namespace === namespace &&
        record.resource === `${resource}/status` &&
        record.name === name &&
        record.code < 300 &&
        record.receivedAt >= since &&
        // Before a new template is observed, the status still counts the pods of the last one.
        record.answeredAt >= changedAt &&
        says((record.response as { status?: unknown }).status ?? {}),
    );
    return first && first.answeredAt - changedAt;
  };
  const { daemonSet: isTold } = told;
  const daemonSet = isTold && lagFor('daemonsets', app, (status) => isTold(status as SetStatus));
  const rollout = lagFor('daemonrollouts', rolloutName, (status) => told.rollout(status as DaemonRolloutStatus));
  return rollout === undefined || (isTold && daemonSet === undefined) ? undefined : { daemonSet, rollout };
};
