import type { Node } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from './audit-record.ts';

interface ReadyChange {
  at: number;
  node: string;
  ready: boolean;
}

/** When nodes became Ready and NotReady. On an overloaded machine they do so by themselves, and then a failure means little. */
export const readyChanges = (records: readonly AuditRecord[], nodes: ReadonlySet<string>): ReadyChange[] => {
  const known = new Map<string, boolean>();
  return records.flatMap(({ name: node, resource, response, answeredAt: at, code }) => {
    if (!resource.startsWith('nodes') || !nodes.has(node) || code >= 300) return [];
    const { conditions } = (response as Node).status ?? {};
    const ready = conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    const before = known.get(node);
    known.set(node, ready);
    return before !== undefined && before !== ready ? [{ at, node, ready }] : [];
  });
};

/** The same for people who investigate a failure, a line each. */
export const outagesText = (records: readonly AuditRecord[], nodes: ReadonlySet<string>): string =>
  readyChanges(records, nodes)
    .map(({ at, node, ready }) => `${new Date(at).toISOString()} ${node} is ${ready ? 'ready' : 'not ready'}`)
    .join('\n');
