import { type Check, type CheckContext } from './check.ts';

/** An object of which a process cannot read a part. */
export interface UnreadableObject {
  kind: string;
  object: Readonly<Record<string, unknown>>;
}

/** What was decided before is on its way for no longer than this. */
const SENT_WITHIN_MS = 1_000;

/** S18: what a manager cannot compute holds the DaemonSets that it concerns. */
export const createUnreadableCheck = (
  { report, daemonSet, actual }: Pick<CheckContext, 'report' | 'daemonSet' | 'actual'>,
  unreadable: (process: string, forMs: number) => readonly UnreadableObject[],
): Check => {
  const concerns = ({ kind, object }: UnreadableObject): boolean => {
    if (kind === 'Node') return true;
    const { name, ownerReferences = [] } = (object['metadata'] ?? {}) as {
      name?: string;
      ownerReferences?: readonly { uid: string }[];
    };
    const uid = actual.daemonSet?.metadata?.uid;
    if (kind !== 'DaemonSet') return ownerReferences.some((owner) => owner.uid === uid);
    return name === daemonSet.name && String(object['apiVersion']).startsWith(`${daemonSet.group}/`);
  };
  return {
    onUpdateSent({ call, what }) {
      report.check('S18');
      const first = unreadable(call.process, SENT_WITHIN_MS).find(concerns);
      if (first) report.violation('S18', `${what}, and cannot read a ${first.kind} of it`);
    },
  };
};
