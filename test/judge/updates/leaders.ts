import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { Check, CheckContext, NodeUpdate } from '../check.ts';
import { defaultsMs } from '../tolerances.ts';

/**
 * S7: two leaders at once. When an update reaches the server, does another manager believe that it leads, or has its sender lost
 * the lease? Such updates are checked against S1 like all others.
 */
export const createLeadersCheck = ({
  report,
  clockOf,
  processes,
}: Pick<CheckContext, 'report' | 'clockOf' | 'processes'>) => {
  /** By process: when it last learned that it leads, by its own clock. */
  const leaderSince = new Map<string, number>();
  let holder: string | undefined;

  const believes = (name: string): boolean => {
    const since = leaderSince.get(name);
    return since !== undefined && clockOf(name) - since < defaultsMs.lease;
  };
  const believers = (): string[] => {
    const names: string[] = [];
    for (const { name } of processes()) if (believes(name)) names.push(name);
    return names;
  };
  const hasOtherLeader = ({ call }: NodeUpdate): boolean =>
    (holder !== undefined && holder !== call.process) || believers().some((name) => name !== call.process);

  return {
    believers,
    onCommit({ resource, object }) {
      if (resource.plural === 'leases') holder = (object as unknown as Lease).spec?.holderIdentity || undefined;
    },
    onResponse(call, object) {
      if (call.resource?.plural !== 'leases' || !object) return;
      if ((object as Lease).spec?.holderIdentity === call.process) leaderSince.set(call.process, clockOf(call.process));
      else leaderSince.delete(call.process);
    },
    /** An update was executed; `broken` are the invariants that it violates. */
    checkUpdate(update: NodeUpdate, broken: readonly string[]): void {
      if (!hasOtherLeader(update)) return;
      report.check('S7');
      // Of surges S10 is the budget.
      if (broken.includes('S1') || broken.includes('S10'))
        report.violation('S7', `${update.what}, while another process leads, too`);
    },
  } satisfies Check & Record<'believers' | 'checkUpdate', unknown>;
};
