import assert from 'node:assert/strict';
import type { AuditRecord } from '../audit-record.ts';
import { judge } from '../judge.ts';

export interface Hearing {
  records: readonly AuditRecord[];
  namespace: string;
  daemonSets: readonly string[];
  nodes: ReadonlySet<string>;
  /** The managers' common user. */
  user: string;
  logs: readonly string[];
  /** Text of the annotation, or what the case says. */
  budget: number | string | undefined;
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

const complaints = (log: string): string[] =>
  log.split('\n').filter((line) => {
    if (line.trim() === '') return false;
    try {
      const { level } = JSON.parse(line) as LogLine;
      return level !== 'info' && level !== 'debug';
    } catch {
      // Whatever is not a log line is a stack trace or a warning of the runtime.
      return true;
    }
  });

/** Holds everything that a case's managers did and said against what must always hold. */
export const verdictOf = (hearing: Hearing): void => {
  const { records, namespace, nodes, user, logs, expected } = hearing;
  const ours = records.filter((record) =>
    record.resource === 'nodes' || record.resource === 'nodes/status'
      ? nodes.has(record.name)
      : record.namespace === namespace,
  );
  // A pod's name begins with its DaemonSet's: deletes that belong to another one are that one's business.
  const isOf = (one: string, { name, resource, verb }: AuditRecord): boolean =>
    !(resource === 'pods' && verb === 'delete') ||
    !hearing.daemonSets.some((other) => other !== one && name.startsWith(`${other}-`));
  const violations = hearing.daemonSets.flatMap((daemonSet) =>
    judge(
      ours.filter((record) => isOf(daemonSet, record)),
      {
        namespace,
        daemonSet,
        budget: toBudget(hearing.budget),
        settleMs: hearing.settleMs,
        product: (name) => name === user,
      },
    ),
  );
  assert.deepEqual(violations, [], 'the judge finds nothing');
  if (!hearing.refusals) {
    const forbidden = records.filter((record) => record.user === user && record.code === 403);
    assert.deepEqual(
      forbidden.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`),
      [],
      'the rights of deploy/ suffice',
    );
  }
  const unexpected = logs.flatMap(complaints).filter((line) => !expected?.test(line));
  assert.deepEqual(unexpected, [], 'the log has no unexpected complaint');
};
