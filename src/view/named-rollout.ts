import { daemonRollouts, type OrderedDaemonSet, readPlan } from '../controller/index.ts';
import { type CallOptions, ifFound, isKubeError } from '../kube/index.ts';
import {
  controllerOf,
  hasUnusableName,
  type Preceding,
  type Predecessor,
  predecessorsIn,
  reportedError,
} from '../rollout/index.ts';
import type { DaemonRolloutStatus } from '../words/index.ts';
import type { Connection } from './connection.ts';
import { CommandError } from './errors.ts';
import { advanced } from './kinds/advanced.ts';
import type { DaemonSetKind, DaemonSetState, Overrides, Reading } from './kinds/kind.ts';
import { findKind, type Named } from './kinds/names.ts';
import { native } from './kinds/native.ts';
import { type ManagerState, managerState } from './manager-lease.ts';
import { reportedStall } from './rollout-display.ts';

/** A node of the ledger. */
type Subject = NonNullable<ReturnType<Reading['ledger']['get']>>;

/** Reads the DaemonSet. Rejects with a `CommandError` if there is none. */
export const readDaemonSet = async (
  connection: Connection,
  kind: DaemonSetKind,
  name: string,
  call: CallOptions = {},
): Promise<DaemonSetState> => {
  const { client, namespace } = connection;
  try {
    return await kind.get(client, { namespace, name }, call);
  } catch (error) {
    throw isKubeError(error, 'NotFound') ? kind.notFound(connection, name, error) : error;
  }
};

const kindOf = (apiGroup: string): DaemonSetKind | undefined =>
  [native, advanced].find(({ resource }) => resource.group === apiGroup);

/** Reads what the plan of a DaemonSet of either kind says in `after`. What can't be read leads nowhere. */
const readAfter =
  ({ client, namespace }: Pick<Connection, 'client' | 'namespace'>) =>
  async ({ apiGroup, name }: OrderedDaemonSet): Promise<readonly Predecessor[]> => {
    const state = await ifFound(kindOf(apiGroup)?.get(client, { namespace, name }) ?? Promise.resolve(undefined));
    const { rolloutPlan } = !state || state.policy.kind === 'off' ? {} : state.policy.policy;
    const plan = rolloutPlan && (await readPlan(client, namespace, rolloutPlan));
    return plan && plan !== 'unreadable' ? predecessorsIn(plan.spec) : [];
  };

/** Reads the rollouts of a plan's predecessors, of either kind. */
export const readPredecessor =
  ({ client, env, namespace }: Pick<Connection, 'client' | 'env' | 'namespace'>) =>
  async ({ apiGroup, name }: Predecessor): Promise<Preceding | undefined> => {
    const kind = kindOf(apiGroup);
    const reading = await ifFound(
      kind?.read({ client, clock: env.clock, namespace, name, overrides: {} }) ?? Promise.resolve(undefined),
    );
    return (
      reading && {
        statusOf: (node) => reading.ledger.get(node)?.status,
        isCurrent: () => reading.decision.summary.hold?.kind !== 'unobserved',
        isComplete: () => reading.decision.summary.complete,
        isUnknown: () => reading.decision.summary.hold?.kind === 'error',
      }
    );
  };

/**
 * Reads the rollout of the DaemonSet that the user named, as the manager would, with `overrides` of its policy. Rejects
 * with a `CommandError` if there is none, or with the kind's own error if it is not managed.
 */
export const readRolloutOf = async (
  connection: Connection,
  named: Named,
  overrides: Overrides = {},
): Promise<Reading> => {
  const { client, env, namespace } = connection;
  const { name } = named;
  const kind = await findKind(connection, named);
  let reading: Reading | undefined;
  try {
    reading = await kind.read({
      client,
      clock: env.clock,
      namespace,
      name,
      overrides,
      preceding: readPredecessor(connection),
      afterOf: readAfter(connection),
    });
  } catch (error) {
    throw isKubeError(error, 'NotFound') ? kind.notFound(connection, name, error) : error;
  }
  if (reading) return reading;
  // The manager ignores a DaemonSet that is being deleted.
  const { object } = await readDaemonSet(connection, kind, name);
  throw object.metadata?.deletionTimestamp
    ? new CommandError('BeingDeleted', `${kind.title} ${namespace}/${name} is being deleted: nothing is rolled out`)
    : kind.notServed(namespace, name);
};

/** The status of the DaemonRollout of the DaemonSet with this UID; undefined if there is none. */
export const readStatus = async (
  { client, namespace }: Connection,
  rolloutName: string,
  daemonSetUid: string | undefined,
): Promise<DaemonRolloutStatus | undefined> => {
  const rollout = await ifFound(client.get(daemonRollouts, { namespace, name: rolloutName }));
  return rollout && controllerOf(rollout)?.uid === daemonSetUid ? rollout.status : undefined;
};

/** Reasons of Stalled that the cluster's objects alone may not show. */
const managersReasons: ReadonlySet<string> = new Set(['InvalidPolicy', 'FailedCreate']);

/** What only the manager knows, such as a template for which the API server rejects pods. */
const managerFindings = ({ status, view, decision }: Reading): string[] => {
  const stalled = reportedStall(status, view);
  const isNews = stalled !== undefined && managersReasons.has(stalled.reason);
  return isNews && view.policy.kind === 'on' && decision.summary.hold?.kind !== 'invalid'
    ? [`The manager reports: ${stalled.message}`]
    : [];
};

/** A reserved slot is used within moments, unless the manager cannot write. */
const SLOW_UPDATE_MS = 10_000;

/** The node's slot was reserved long ago, and is not used: since when, epoch ms. */
export const reservedSince = ({ status, update }: Subject, now: number): number | undefined =>
  status.cause === 'reserved' && update && now - update.at >= SLOW_UPDATE_MS ? update.at : undefined;

const isUnobserved = ({ kind, decision: { summary } }: Reading): boolean =>
  summary.hold?.kind === 'unobserved' && summary.hold.what === undefined && kind.podController === 'manager';

/** What the objects show can be the work of the moment, or that of a manager which is not running. */
const suspectsManager = (reading: Reading, now: number): boolean =>
  isBehind(reading) ||
  isUnobserved(reading) ||
  reading.ledger.records().some((record) => reservedSince(record, now) !== undefined);

/** A manager that cannot compute the rollout says so, in a status that stays about the generation before. */
export const isBehind = ({
  status,
  view,
}: Pick<Reading, 'status'> & { view: Pick<Reading['view'], 'generation'> }): boolean =>
  (status?.daemonSetGeneration ?? -1) < view.generation && !reportedError(status?.conditions);

/** The reading with what is known of the manager, if anything is to be blamed on it. */
export const withManager = async (connection: Connection, reading: Reading): Promise<Reading> => {
  const { client, env, namespace } = connection;
  const { kind, view, decision } = reading;
  if (!suspectsManager(reading, env.clock.now())) return reading;
  const manager = await managerState(connection, async () => {
    const rollout = await ifFound(client.get(daemonRollouts, { namespace, name: kind.rolloutName(view.name) }));
    return rollout ? [rollout] : [];
  });
  if (!isUnobserved(reading) || manager.kind === 'unknown') return { ...reading, manager };
  const hold = { kind: 'unobserved', remedy: aboutManager(manager, '') } as const;
  return { ...reading, manager, decision: { ...decision, summary: { ...decision.summary, hold } } };
};

/** What to look at if the manager does not do its part: a sentence. `unknown`: where nothing is known of it. */
export const aboutManager = (manager: ManagerState | undefined, unknown: string): string => {
  if (manager?.kind === 'absent') return `${manager.why}.`;
  return manager?.kind === 'running' ? `It is running (${manager.how}): if this lasts, see its log.` : unknown;
};

/** Of a DaemonSet without a status. */
const unrecorded = ({ kind, manager }: Reading): string => {
  const what = `No manager has recorded a status for this ${kind.title} yet, so nothing happens`;
  if (manager?.kind === 'absent') return `${what}. ${manager.why}.`;
  return manager?.kind === 'running'
    ? `${what}. One is running (${manager.how}): check that it ${kind.servesHint}.`
    : `${what}: check that edgeset-manager is running and that it ${kind.servesHint}.`;
};

const isUnknownPlan = ({ unreadable }: Pick<Reading, 'unreadable'>): boolean =>
  unreadable.some((plural) => plural !== 'rolloutapprovals');

/** Which right the user lacks, and who can give it. */
const missingRight = (reading: Pick<Reading, 'unreadable' | 'view'>): { what: string; remedy: string } => {
  const { unreadable, view } = reading;
  const where =
    isUnknownPlan(reading) && view.policy.policy.rolloutPlan?.cluster
      ? 'in the whole cluster'
      : `in namespace ${view.namespace}`;
  return {
    what: `you may not read ${unreadable.map((plural) => `${plural}.edgeset.io`).join(' and ')}`,
    remedy: `ask your cluster administrator for the ClusterRole edgeset-view ${where}`,
  };
};

/** What is missing here because the user may not read it; undefined if everything could be read. */
export const rightsNote = (reading: Pick<Reading, 'unreadable' | 'view'>): string | undefined => {
  if (reading.unreadable.length === 0) return undefined;
  const { what, remedy } = missingRight(reading);
  const hidden = isUnknownPlan(reading)
    ? 'what the stages, windows and groups of the rollout plan hold back'
    : 'approvals that the manager has not seen yet';
  return `This does not show ${hidden}, because ${what}: ${remedy}.`;
};

/** What the manager would do can't be told without the plan. Throws a `CommandError`. */
export const requirePlan = (reading: Pick<Reading, 'unreadable' | 'view'>): void => {
  if (!isUnknownPlan(reading)) return;
  const { what, remedy } = missingRight(reading);
  throw new CommandError('Forbidden', `${what}, on which the decisions of the manager depend: ${remedy}`);
};

/** Whether the manager will carry out what is decided here, as far as the cluster's objects show. */
export const managerNotes = (reading: Reading): string[] => {
  const { kind, view, status, ledger, manager } = reading;
  if (!status) return hasUnusableName(view.policy) ? [] : [unrecorded(reading)];
  const rights = rightsNote(reading);
  const notes = rights === undefined ? [] : [rights];
  if (isBehind(reading)) {
    const remedy = aboutManager(manager, 'If this lasts, check that it is running.');
    notes.push(`The manager has not observed the current template yet. ${remedy}`);
  }
  const refused = status.causes?.find(({ cause }) => cause === 'refused')?.count ?? 0;
  if (refused > 0)
    notes.push(
      `The API server rejected the manager's updates of ${refused} of the nodes: see the ${kind.failureEvents} Events of the DaemonSet ("kubectl describe ${kind.short}/${view.name} -n ${view.namespace}").`,
    );
  const { warnings } = view.policy;
  notes.push(
    ...managerFindings(reading),
    ...warnings.map(({ field, value, problem, remedy }) => `${field} "${value}" ${problem}: ${remedy}.`),
    ...reading.notes,
  );
  return ledger.tally.eligible === 0 ? [...notes, 'No node is eligible for this DaemonSet.'] : notes;
};
