import assert from 'node:assert/strict';
import type { DaemonRollout } from '../../../src/words/index.ts';
import { type CaseKind, kinds } from '../../conformance/kit/kinds.ts';
import type { AuditRecord } from './audit-record.ts';
import { checkAnnouncements } from './check-announcements.ts';
import { checkCreations } from './check-creations.ts';
import { checkImagePulls, isPullCall } from './check-image-pulls.ts';
import { checkStages } from './check-stages.ts';
import { type CheckOptions, checkUpdates } from './check-updates.ts';

interface CheckedDaemonSet {
  name: string;
  kind: CaseKind;
  /** The value of the annotation, or what the case sets; for native DaemonSets. */
  budget: number | string | undefined;
}

export interface CheckedRun extends Pick<CheckOptions, 'lagMs' | 'heldBackMs' | 'checked'> {
  records: readonly AuditRecord[];
  namespace: string;
  daemonSets: readonly CheckedDaemonSet[];
  nodes: ReadonlySet<string>;
  /** The user of all managers. */
  user: string;
  logs: readonly string[];
  settleMs: number;
  expected: RegExp | undefined;
  refusals: boolean;
}

const toBudget = (value: number | string | undefined): number | `${number}%` => {
  if (typeof value === 'number') return value;
  const text = value?.trim() ?? '10%';
  if (/^\d+%$/.test(text)) return text as `${number}%`;
  return /^\d+$/.test(text) ? Number(text) : 0;
};

interface LogLine {
  level?: string;
  msg?: string;
}

const warnings = (log: string): string[] =>
  log.split('\n').filter((line) => {
    if (line.trim() === '') return false;
    try {
      const { level } = JSON.parse(line) as LogLine;
      return level !== 'info' && level !== 'debug';
    } catch {
      // Anything else is a stack trace or a warning of the runtime.
      return true;
    }
  });

/** Statuses about an older generation of the DaemonSet than an earlier status of the same object. */
const regressions = (records: readonly AuditRecord[], user: string): string[] => {
  const seen = new Map<string, number>();
  return records.flatMap(({ user: by, resource, code, response }) => {
    if (by !== user || resource !== 'daemonrollouts/status' || code >= 300) return [];
    const { metadata, status } = response as DaemonRollout;
    const uid = metadata.uid ?? '';
    const now = status?.daemonSetGeneration ?? 0;
    const before = seen.get(uid) ?? 0;
    seen.set(uid, Math.max(now, before));
    return now < before ? [`${metadata.name}: ${now} after ${before}`] : [];
  });
};

/** Checks everything that the managers of a case did and logged against what must always hold. */
export const assertInvariants = (checkedRun: CheckedRun): void => {
  const { records, namespace, nodes, user, logs, expected } = checkedRun;
  const all = records.filter((record) =>
    record.resource === 'nodes' || record.resource === 'nodes/status'
      ? nodes.has(record.name)
      : // A plan of the cluster is in no namespace.
        record.namespace === namespace || record.resource === 'clusterrolloutplans',
  );
  // Image pulls are checked separately; for the other checks another user makes them.
  const ours = all.map((record) => (isPullCall(record) ? { ...record, user: `${record.user} (pulls)` } : record));
  // The name of a pod begins with that of its DaemonSet: deletes of another DaemonSet's pods are not checked here.
  const isOf = (one: string, { name, resource, verb }: AuditRecord): boolean =>
    !(resource === 'pods' && verb === 'delete') ||
    !checkedRun.daemonSets.some((other) => other.name !== one && name.startsWith(`${other.name}-`));
  const product = (name: string): boolean => name === user;
  assert.deepEqual(checkImagePulls(all, product), [], 'image pulls violate no invariant');
  const { lagMs, heldBackMs, checked, settleMs } = checkedRun;
  const violations = checkedRun.daemonSets.flatMap(({ name: daemonSet, kind, budget }) => [
    ...checkAnnouncements(ours, { namespace, daemonSet, product }),
    ...checkStages(
      ours.filter((record) => isOf(daemonSet, record)),
      {
        namespace,
        daemonSet,
        kind,
        rollout: kinds[kind].rolloutName(daemonSet),
        product,
        ...(lagMs !== undefined && { lagMs }),
        ...(checked && { checked }),
      },
    ),
    ...(kind === 'native'
      ? []
      : checkCreations(
          ours.filter((record) => isOf(daemonSet, record)),
          {
            namespace,
            daemonSet,
            rollout: kinds[kind].rolloutName(daemonSet),
            product,
            ...(lagMs !== undefined && { lagMs }),
            ...(checked && { checked }),
          },
        )),
    ...checkUpdates(
      ours.filter((record) => isOf(daemonSet, record)),
      {
        namespace,
        daemonSet,
        kind,
        budget: toBudget(budget),
        settleMs,
        product,
        ...(lagMs !== undefined && { lagMs }),
        ...(heldBackMs && { heldBackMs }),
        ...(checked && { checked }),
      },
    ),
  ]);
  assert.deepEqual(violations, [], 'updates violate no invariant');
  // A call whose body was cut off deletes nothing, and its body is not recorded.
  const deletes = ours.filter(
    ({ user: by, verb, resource, code, request }) =>
      by === user && verb === 'delete' && resource === 'pods' && (code < 300 || request !== undefined),
  );
  for (const { name, request } of deletes) {
    const { preconditions } = (request ?? {}) as { preconditions?: { uid?: string; resourceVersion?: string } };
    assert.ok(
      preconditions?.uid && preconditions.resourceVersion,
      `the delete of ${name} has uid and resourceVersion preconditions`,
    );
  }
  assert.deepEqual(regressions(ours, user), [], 'daemonSetGeneration never decreases');
  if (!checkedRun.refusals) {
    const forbidden = records.filter((record) => record.user === user && record.code === 403);
    assert.deepEqual(
      forbidden.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`),
      [],
      'the permissions of deploy/ suffice',
    );
  }
  const unexpected = logs.flatMap(warnings).filter((line) => !expected?.test(line));
  assert.deepEqual(unexpected, [], 'the log has no unexpected warnings or errors');
};
