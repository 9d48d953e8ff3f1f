import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { type AnyDaemonSet, policyOf, type Share } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Check, CheckContext } from '../check.ts';
import { defaultsMs, tolerances } from '../tolerances.ts';

const CONFLICT = 409;

type AnswersContext = Pick<CheckContext, 'actual' | 'daemonSet' | 'now' | 'viewOf'>;

/**
 * Follows what the API server has answered to each process about the DaemonSet: it may be newer than what a late watch has
 * delivered. A write that is refused because the DaemonSet has changed says that there is a newer version to be read.
 */
export const followAnswers = ({ actual, daemonSet, now, viewOf }: AnswersContext) => {
  /** By process: the newest version that it was told of, and since when it could know that its watch is behind. */
  const told = new Map<string, { version: AnyDaemonSet; at: number }>();
  /** Writes that are based on an older version, with the present one. */
  const refused = new WeakMap<Call, AnyDaemonSet>();
  const ledAt = new Map<string, number>();

  const isOurs = ({ resource, ref }: Call): boolean =>
    resource?.plural === 'daemonsets' && resource.group === daemonSet.group && ref?.name === daemonSet.name;
  const versionOf = (object: AnyDaemonSet | undefined): number => Number(object?.metadata?.resourceVersion ?? 0);
  /** The version has another budget than the one that the process has observed, which is older. */
  const hasAnotherLimit = (process: string, version: AnyDaemonSet): boolean => {
    const known = viewOf(process).daemonSet;
    return (
      known !== undefined && versionOf(version) > versionOf(known) && policyOf(version).limit !== policyOf(known).limit
    );
  };
  const tell = (process: string, version: AnyDaemonSet): void => {
    const before = told.get(process);
    if (versionOf(before?.version) > versionOf(version)) return;
    const at = before && hasAnotherLimit(process, before.version) ? before.at : now();
    told.set(process, { version, at });
  };

  const check: Check = {
    onResponse(call, object) {
      const { process, resource } = call;
      if (object && isOurs(call) && call.verb !== 'delete') tell(process, object);
      if (resource?.plural !== 'leases' || !object) return;
      if ((object as Lease).spec?.holderIdentity !== process) return;
      const before = ledAt.get(process);
      ledAt.set(process, now());
      const isNewTerm = before === undefined || now() - before > defaultsMs.lease;
      if (isNewTerm && actual.daemonSet) tell(process, actual.daemonSet);
    },
    onFailure(call, status) {
      const version = refused.get(call);
      if (version && status === CONFLICT) tell(call.process, version);
    },
  };
  return {
    check,
    /** A write reaches the server. */
    onArrival(call: Call): void {
      if (!isOurs(call) || !actual.daemonSet) return;
      const base = (call.body as AnyDaemonSet | undefined)?.metadata?.resourceVersion;
      if (base !== undefined && Number(base) !== versionOf(actual.daemonSet)) refused.set(call, actual.daemonSet);
    },
    /** The budget that a process has observed; undefined if it could know, for long enough, that there is another one. */
    observedLimit(process: string): Share | undefined {
      const known = viewOf(process).daemonSet;
      const last = told.get(process);
      if (!known || (last && now() - last.at > tolerances.userChange.ms && hasAnotherLimit(process, last.version)))
        return undefined;
      return policyOf(known).limit;
    },
  };
};
