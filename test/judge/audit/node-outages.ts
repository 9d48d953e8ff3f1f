import type { Node } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from './audit-record.ts';

/** When nodes became NotReady. On an overloaded machine they do so by themselves, and then a failure means little. */
export const nodeOutages = (records: readonly AuditRecord[], nodes: ReadonlySet<string>): string[] => {
  const ready = new Map<string, boolean>();
  return records.flatMap(({ name, resource, response, answeredAt, code }) => {
    if (!resource.startsWith('nodes') || !nodes.has(name) || code >= 300) return [];
    const { conditions } = (response as Node).status ?? {};
    const now = conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    const before = ready.get(name);
    ready.set(name, now);
    const changed = before !== undefined && before !== now;
    return changed ? [`${new Date(answeredAt).toISOString()} ${name} is ${now ? 'ready' : 'not ready'}`] : [];
  });
};
