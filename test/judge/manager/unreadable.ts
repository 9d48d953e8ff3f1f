import type { Condition } from 'kubernetes-types/meta/v1.d.ts';
import { policyOf } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Dose, Poisons } from '../../simulation/network/poisons.ts';
import type { Check, CheckContext, ProcessState } from '../check.ts';
import { tolerances, withinMs } from '../tolerances.ts';

/** A try that follows may do without: nodes are compared by it, and only some plans choose nodes by it. */
const DISPENSABLE = 'metadata.labels.ring';

const PLANS: ReadonlySet<string> = new Set(['RolloutPlan', 'ClusterRolloutPlan']);

const saysError = (body: unknown): boolean | undefined =>
  (body as { status?: { conditions?: readonly Condition[] } } | undefined)?.status?.conditions?.some(
    ({ reason }) => reason === 'InternalError',
  );

export interface UnreadableOptions {
  poisons: Pick<Poisons, 'unreadable' | 'unwell'>;
  /** Processes that believe that they lead. */
  believers: () => readonly string[];
}

/**
 * S18: what a manager cannot compute holds the DaemonSets that it concerns, and no others. A manager that leads says so, and only
 * then. What an agent cannot compute it does not act on.
 */
export const createUnreadableCheck = (
  {
    report,
    daemonSet,
    actual,
    now,
    viewOf,
    rolloutName,
    processes,
  }: Pick<CheckContext, 'report' | 'daemonSet' | 'actual' | 'now' | 'viewOf' | 'rolloutName' | 'processes'>,
  { poisons, believers }: UnreadableOptions,
) => {
  const part = daemonSet.group === 'apps' ? 'native' : 'advanced';
  let told: { uid: string; isError: boolean } | undefined;
  /** By process: since when nothing keeps it from telling what it cannot compute. */
  const freeSince = new Map<string, number>();

  /** The DaemonSet depends on the object, for whoever reads it. */
  const isAbout = ({ kind, object }: Dose): boolean => {
    if (kind === 'Node') return true;
    const { name, ownerReferences = [] } = (object['metadata'] ?? {}) as {
      name?: string;
      ownerReferences?: readonly { uid: string }[];
    };
    const { uid, annotations } = actual.daemonSet?.metadata ?? {};
    if (PLANS.has(kind)) return annotations?.['edgeset.io/rollout-plan'] === name;
    if (kind !== 'DaemonSet') return ownerReferences.some((owner) => owner.uid === uid);
    return name === daemonSet.name && String(object['apiVersion']).startsWith(`${daemonSet.group}/`);
  };
  /** Nobody can tell whose it is; and native DaemonSets may be those that keep an Advanced one from being updated. */
  const mayConcern = (dose: Dose): boolean =>
    isAbout(dose) || dose.path.endsWith('ownerReferences') || (part === 'advanced' && dose.kind === 'DaemonSet');

  /** What was read for one decision need not be read for the next. */
  const isNeeded = ({ path, via }: Dose): boolean => via === 'watch' && path !== DISPENSABLE;
  /** What keeps a process from updating the DaemonSet. */
  const held = (process: string, forMs = tolerances.unreadableSent.ms): Dose | undefined =>
    poisons.unreadable(process, forMs).find((dose) => dose.part === part && isNeeded(dose) && isAbout(dose));
  const isWell = (process: string): boolean =>
    !poisons
      .unwell(process, tolerances.backOff.ms)
      .some((dose) => (dose.part !== 'native' && dose.part !== 'advanced') || (dose.part === part && mayConcern(dose)));

  const violation = (text: string): void => report.violation('S18', text);

  /** Of a native DaemonSet that opted out, nothing needs to be computed. */
  const isManual = (): boolean =>
    part === 'native' && actual.daemonSet !== undefined && policyOf(actual.daemonSet).manual;

  const checkStatus = (call: Call, isError: boolean): void => {
    report.check('S18');
    const dose = held(call.process);
    if (dose && !isError && !isManual())
      violation(`${call.process} does not say that it cannot read a ${dose.kind} at ${dose.path}`);
    const ill = poisons.unwell(call.process, tolerances.backOff.ms).filter(mayConcern);
    if (isError && ill.length === 0)
      violation(`${call.process} reports an internal error, and can read everything of it`);
  };

  /** A healthy leader tells people what it cannot compute. */
  const checkTold = (): void => {
    for (const { name, running, up } of processes()) {
      const isFree = running && up && believers().join() === name && viewOf(name).isInTouch;
      if (!isFree) freeSince.delete(name);
      else if (!freeSince.has(name)) freeSince.set(name, now());
      const since = freeSince.get(name);
      if (since === undefined || now() - since < withinMs.reported) continue;
      const dose = held(name, withinMs.reported);
      const { metadata } = actual.daemonSet ?? {};
      if (!dose || !metadata || metadata.deletionTimestamp || told?.uid !== metadata.uid) continue;
      if (isManual()) continue;
      report.check('S18');
      if (!told?.isError) violation(`${name} has not said that it cannot read a ${dose.kind} at ${dose.path}`);
    }
  };

  const check: Check = {
    beforeCommit: checkTold,
    onCommit({ type, resource, object }) {
      if (resource.plural !== 'daemonrollouts' || object.metadata.name !== rolloutName) return;
      const owner = object.metadata.ownerReferences?.[0]?.uid ?? '';
      told = type === 'DELETED' ? undefined : { uid: owner, isError: saysError(object) ?? false };
    },
    onFailure({ process }) {
      freeSince.delete(process);
    },
    onSend(call) {
      if (call.resource?.plural !== 'daemonrollouts' || call.ref?.name !== rolloutName || call.verb === 'create')
        return;
      const isError = saysError(call.body);
      if (isError !== undefined) checkStatus(call, isError);
    },
    onUpdateSent({ call, what }) {
      report.check('S18');
      const dose = held(call.process);
      if (dose) violation(`${what}, and cannot read a ${dose.kind} of it at ${dose.path}`);
    },
  };
  return {
    check,
    /** What keeps a process from updating the DaemonSet; and it could read everything of it for a while. */
    held: (process: string): Dose | undefined => held(process),
    isWell,
    /** An agent sends an update of a pod. */
    onAgentUpdate({ process, verb, ref }: Call): void {
      report.check('S18');
      const [dose] = poisons.unreadable(process, tolerances.unreadableSent.ms);
      if (dose) violation(`${process} ${verb}s ${ref?.name}, and cannot read a ${dose.kind} at ${dose.path}`);
    },
    /** As far as this DaemonSet is concerned, a process that cannot compute something is down. */
    processes: (): readonly ProcessState[] =>
      processes().map((state) => (isWell(state.name) ? state : { ...state, up: false })),
  };
};
export type UnreadableCheck = ReturnType<typeof createUnreadableCheck>;
