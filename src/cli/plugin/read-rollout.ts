import { daemonRollouts } from '../../controller/index.ts';
import { type CallOptions, ifFound, isKubeError } from '../../kube/index.ts';
import { controllerOf, type DaemonRolloutStatus } from '../../rollout/index.ts';
import type { Connection } from './connection.ts';
import { CommandError } from './errors.ts';
import type { DaemonSetKind, DaemonSetState, Overrides, Reading } from './kinds/kind.ts';
import { findKind, type Named } from './kinds/names.ts';

/** Reads the DaemonSet. Rejects with a `CommandError` if there is none. */
export const readDaemonSet = async (
  { client, namespace }: Connection,
  kind: DaemonSetKind,
  name: string,
  call: CallOptions = {},
): Promise<DaemonSetState> => {
  try {
    return await kind.get(client, { namespace, name }, call);
  } catch (error) {
    throw isKubeError(error, 'NotFound') ? kind.notFound(namespace, name, error) : error;
  }
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
    reading = await kind.read({ client, clock: env.clock, namespace, name, overrides });
  } catch (error) {
    throw isKubeError(error, 'NotFound') ? kind.notFound(namespace, name, error) : error;
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

/** What only the manager knows, such as a template for which the API server rejects pods. */
const managerFindings = ({ status, view, decision }: Reading): string[] => {
  const stalled = status?.conditions?.find(({ type }) => type === 'Stalled');
  const isCurrent =
    stalled?.status === 'True' && stalled.reason === 'InvalidPolicy' && status?.observedGeneration === view.generation;
  return isCurrent && view.policy.kind === 'on' && decision.summary.hold?.kind !== 'invalid'
    ? [`The manager reports: ${stalled.message}`]
    : [];
};

/** Whether the manager will carry out what is decided here, as far as the cluster's objects show. */
export const managerNotes = (reading: Reading): string[] => {
  const { kind, view, status, ledger } = reading;
  if (!status)
    return [`No manager has recorded a status for this ${kind.title} yet, so nothing happens: ${kind.noManagerHint}.`];
  const notes: string[] = [];
  if ((status.observedGeneration ?? 0) < view.generation)
    notes.push('The manager has not observed the current template yet: if this lasts, check that it is running.');
  const refused = status.causes?.find(({ cause }) => cause === 'refused')?.count ?? 0;
  if (refused > 0)
    notes.push(
      `The API server rejected the manager's updates of ${refused} of the nodes: see the ${kind.failureEvents} Events of the DaemonSet ("kubectl describe ${kind.short}/${view.name}").`,
    );
  const { warnings } = view.policy;
  notes.push(
    ...managerFindings(reading),
    ...warnings.map(({ field, value, problem, cure }) => `${field} "${value}" ${problem}: ${cure}.`),
    ...reading.notes,
  );
  return ledger.tally.eligible === 0 ? [...notes, 'No node is eligible for this DaemonSet.'] : notes;
};
