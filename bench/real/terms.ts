import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from '../../test/conformance/index.ts';

/** A time in which one manager led. */
export interface Term {
  holder: string;
  /** When the API server received the write that took the lease, epoch ms. */
  leaseAt: number;
  /** When it received the first other write after that, other than an Event; Infinity without one. */
  firstWriteAt: number;
  /** When it received the first delete of a pod, by the pods' label `app`. */
  firstDeletes: ReadonlyMap<string, number>;
}

const isWrite = ({ verb, resource, code }: AuditRecord): boolean =>
  verb !== 'get' && verb !== 'list' && verb !== 'watch' && resource !== 'events' && code < 300;

/** The terms of the managers of one user, which share a lease, from the audit log. One that was killed sends nothing after that. */
export const termsOf = (records: readonly AuditRecord[], user: string): Term[] => {
  const terms: (Term & { firstDeletes: Map<string, number> })[] = [];
  const writes = records.filter((record) => record.user === user && isWrite(record));
  for (const record of writes.toSorted((a, b) => a.receivedAt - b.receivedAt)) {
    const { receivedAt, resource, response } = record;
    const term = terms.at(-1);
    if (resource === 'leases') {
      const holder = (response as Lease).spec?.holderIdentity ?? '';
      if (holder !== '' && holder !== term?.holder)
        terms.push({ holder, leaseAt: receivedAt, firstWriteAt: Number.POSITIVE_INFINITY, firstDeletes: new Map() });
    } else if (term) {
      term.firstWriteAt = Math.min(term.firstWriteAt, receivedAt);
      const app = (response as Pod).metadata?.labels?.app;
      if (resource === 'pods' && record.verb === 'delete' && app !== undefined && !term.firstDeletes.has(app))
        term.firstDeletes.set(app, receivedAt);
    }
  }
  return terms;
};
