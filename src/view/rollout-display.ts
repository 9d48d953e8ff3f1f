import {
  createRolloutModel,
  type DaemonSetObject,
  type DaemonSetView,
  type Kind,
  type RecordedRevision,
} from '../controller/index.ts';
import type { Store } from '../kube/index.ts';
import {
  createLedger,
  type Decision,
  decide,
  type Ledger,
  type NodeInfo,
  type OutsideHold,
  parseIntOrPercent,
  reasonOfHold,
  reportedError,
  restore,
} from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { DaemonRolloutStatus } from '../words/index.ts';

/** A rollout at one moment, read from the cluster's objects alone. */
export interface RolloutReading<V extends DaemonSetView = DaemonSetView> {
  view: V;
  ledger: Ledger;
  decision: Decision;
  /** What the manager wrote last; undefined before its first write. */
  status: DaemonRolloutStatus | undefined;
  /** The revisions that the DaemonSet owns. */
  revisions: readonly RecordedRevision[];
  /** Plurals of the resources of its rollout plan that the user may not read: what they say is not in the decision. */
  unreadable: readonly string[];
}

/** What a decision needs besides the model. */
export interface DisplayedObjects {
  status: DaemonRolloutStatus | undefined;
  /** Of any owner. */
  revisions: readonly RecordedRevision[];
  unreadable: readonly string[];
  /** What else would hold the manager back. */
  hold: OutsideHold | undefined;
}

/** Why the manager says that this generation of the DaemonSet is stuck; undefined if it does not. */
export const reportedStall = (
  status: DaemonRolloutStatus | undefined,
  { generation }: Pick<DaemonSetView, 'generation'>,
): { reason: string; message: string } | undefined => {
  const stalled = status?.conditions?.find(({ type }) => type === 'Stalled');
  return stalled?.status === 'True' && status?.daemonSetGeneration === generation ? stalled : undefined;
};

/** Why the API server refuses new pods: only the manager finds that out. */
const reportedRefusal = (status: DaemonRolloutStatus | undefined, view: DaemonSetView): string | undefined => {
  const stalled = reportedStall(status, view);
  return stalled?.reason === reasonOfHold.refused ? stalled.message : undefined;
};

/** What the manager reports as invalid in this generation of the DaemonSet: a sentence. */
const reportedInvalidity = (
  status: DaemonRolloutStatus | undefined,
  view: Pick<DaemonSetView, 'generation'>,
): string | undefined => {
  const stalled = reportedStall(status, view);
  return stalled?.reason === reasonOfHold.invalid ? stalled.message : undefined;
};

const toHold = (sentence: string): OutsideHold => ({ kind: 'invalid', errors: [], what: sentence.replace(/\.$/, '') });

/**
 * What the manager alone knows to be invalid, such as a template that the API server refuses: it holds the rollout whatever
 * the objects show. It has no hash of a policy that is invalid by itself, which may be another one here, in a dry run.
 */
const reportedHold = (status: DaemonRolloutStatus | undefined, view: DaemonSetView): OutsideHold | undefined => {
  const invalidity = status?.policyHash ? reportedInvalidity(status, view) : undefined;
  return invalidity === undefined ? undefined : toHold(invalidity);
};

/** Why the objects show no target. What the manager has reported, and what is missing here, is no fault of its own. */
const withoutTarget = (
  status: DaemonRolloutStatus | undefined,
  view: DaemonSetView,
  revisions: readonly RecordedRevision[],
): OutsideHold => {
  const invalidity = reportedInvalidity(status, view);
  if (invalidity !== undefined) return toHold(invalidity);
  const { target } = status ?? {};
  const waits = status?.conditions?.some(({ reason }) => reason === reasonOfHold.unobserved) ?? false;
  if (!target || waits || status?.daemonSetGeneration !== view.generation) return { kind: 'unobserved' };
  if (revisions.some(({ name }) => name === target.revision)) return { kind: 'unobserved' };
  return {
    kind: 'unobserved',
    what: `ControllerRevision ${target.revision}, which the manager rolls out, is not among those that the DaemonSet owns`,
    remedy: 'If this lasts, find out who deletes or changes ControllerRevisions.',
  };
};

/**
 * The manager's verdict on a policy that is valid as far as it can be seen from here. The manager alone knows which servers it may ask,
 * which Secrets there are and, of every DaemonSet, whether it waits for itself; so its verdict counts.
 */
export const managerVerdict = (
  view: DaemonSetView,
  status: DaemonRolloutStatus | undefined,
): OutsideHold | undefined => {
  const { policy } = view;
  const invalidity = status?.policyHash === '' ? reportedInvalidity(status, view) : undefined;
  if (invalidity === undefined || !policy.policy.rolloutPlan || policy.kind !== 'on') return undefined;
  return toHold(`The manager reports: ${invalidity}`);
};

export interface RolloutDisplayOptions<V extends DaemonSetView> {
  clock: Pick<Clock, 'now'>;
  view: V;
  /** All nodes of the cluster. */
  nodes: Pick<Store<NodeInfo>, 'get' | 'values'>;
  /** The model has changed. */
  changed: () => void;
}

/**
 * The model of a rollout that this process only displays, and the manager's decision on it. It serves those who read the
 * cluster's objects once, and those who watch them.
 */
export const createRolloutDisplay = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  kind: Kind<D, V, P>,
  { clock, view, nodes, changed }: RolloutDisplayOptions<V>,
) => {
  const ledger = createLedger(view.policy.policy, { readOnly: true });
  let restored: { status: DaemonRolloutStatus | undefined } | undefined;

  const model = createRolloutModel({
    clock,
    ledger,
    view,
    nodes,
    projection: kind.pods,
    images: {
      /** The manager's flags can't be read; requests for images can. */
      setPod({ images, revision }) {
        if (images && images.revision !== revision) ledger.setPullsByDefault(true, clock.now());
      },
      removePod: () => undefined,
    },
    enqueue: changed,
  });

  return {
    model,
    /** What each node waits for, as its plan's predecessors stand now. */
    setOrder(waits: (node: string) => string | undefined): void {
      for (const { name } of ledger.records()) ledger.setWaitsFor(name, waits(name), clock.now());
    },
    /** All nodes and pods are known: decides as the manager would, and executes nothing. */
    read({ status, hold, unreadable, ...objects }: DisplayedObjects): RolloutReading<V> {
      const now = clock.now();
      const current = model.view();
      const { policy, uid } = current;
      ledger.finishInitialSync();
      if (!restored || restored.status !== status) {
        const saved = restore(status);
        ledger.restore(saved.state, saved.updates, saved.forgiven, now);
        restored = { status };
      }
      const revisions = objects.revisions.filter(({ ownerUid }) => ownerUid === uid);
      const target = kind.targetOf(current, revisions);
      if (target) ledger.setTarget(target, now);
      ledger.tick(now);
      const invalid = policy.kind === 'invalid' ? ({ kind: 'invalid', errors: policy.errors } as const) : undefined;
      const untold = target ? undefined : withoutTarget(status, current, revisions);
      const outside = reportedError(status?.conditions) ?? invalid ?? hold ?? reportedHold(status, current) ?? untold;
      const decision = decide(ledger, outside, now, {
        refusal: reportedRefusal(status, current),
        // The manager's flags can't be read; what it goes by can.
        firstWave: parseIntOrPercent(status?.budget?.firstWave ?? ''),
      });
      return { view: current, ledger, decision, status, revisions, unreadable };
    },
  };
};
