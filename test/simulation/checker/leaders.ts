import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { Check, CheckContext, NodeUpdate } from './check.ts';

/** A lease that was not renewed for so long is no belief any more. */
const LEASE_MS = 15_000;

/**
 * S7: managers that lead at once. Of an act that reaches the server, does another manager believe that it leads, or is its
 * sender leader no more? Such acts are held against S1 as all are.
 */
export const createLeadersCheck = ({ report, clockOf, processes }: CheckContext) => {
  /** By process: since when, by its own clock, it was told that it leads. */
  const beliefs = new Map<string, number>();
  let holder: string | undefined;

  const believers = (): string[] =>
    processes().flatMap(({ name }) => {
      const since = beliefs.get(name);
      return since !== undefined && clockOf(name) - since < LEASE_MS ? [name] : [];
    });
  const others = ({ call }: NodeUpdate): boolean =>
    (holder !== undefined && holder !== call.process) || believers().some((name) => name !== call.process);

  return {
    /** Who believes that it leads. */
    believers,
    onCommit({ resource, object }) {
      if (resource.plural === 'leases') holder = (object as unknown as Lease).spec?.holderIdentity || undefined;
    },
    onResponse(call, object) {
      if (call.resource?.plural !== 'leases' || !object) return;
      if ((object as Lease).spec?.holderIdentity === call.process) beliefs.set(call.process, clockOf(call.process));
      else beliefs.delete(call.process);
    },
    /** Judged with what an act broke: to be asked when it was carried out. */
    judge(act: NodeUpdate, broken: readonly string[]): void {
      if (!others(act)) return;
      report.check('S7');
      if (broken.includes('S1')) report.violation('S7', `${act.what}, while another leads too`);
    },
  } satisfies Check & { believers: () => string[]; judge: (act: NodeUpdate, broken: readonly string[]) => void };
};
