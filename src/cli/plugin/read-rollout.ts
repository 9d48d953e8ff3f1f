import { daemonRollouts } from '../../controller/index.ts';
import { type CallOptions, ifFound, isKubeError } from '../../kube/index.ts';
import { controllerOf, type DaemonRolloutStatus } from '../../rollout/index.ts';
import type { Connection } from './connection.ts';
import { CommandError } from './errors.ts';
import type { DaemonSetKind, DaemonSetState, Overrides, Reading } from './kinds/kind.ts';
import { findKind, type Named } from './kinds/names.ts';

/** The DaemonSet as it is now. Rejects with a `CommandFailure` where there is none. */
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
 * Reads the rollout of the DaemonSet that a person named as the manager would, with `overrides` in place of what it says
 * itself. Rejects with a `CommandFailure` where there is none to read, or with the kind's own error for one not served.
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
  // One that is being deleted is nobody's business any more, whatever it asks for.
  const { object } = await readDaemonSet(connection, kind, name);
  throw object.metadata?.deletionTimestamp
    ? new CommandError('BeingDeleted', `${kind.title} ${namespace}/${name} is being deleted: nothing is rolled out`)
    : kind.notServed(namespace, name);
};

/** What the DaemonRollout of this name says of the DaemonSet with this UID; undefined while there is none. */
export const readStatus = async (
  { client, namespace }: Connection,
  rolloutName: string,
  daemonSetUid: string | undefined,
): Promise<DaemonRolloutStatus | undefined> => {
  const rollout = await ifFound(client.get(daemonRollouts, { namespace, name: rolloutName }));
  return rollout && controllerOf(rollout)?.uid === daemonSetUid ? rollout.status : undefined;
};

/** What the manager found that cannot be seen from here, such as a template that the API server refuses for pods. */
const refusedByManager = ({ status, view, decision }: Reading): string[] => {
  const stalled = status?.conditions?.find(({ type }) => type === 'Stalled');
  const told =
    stalled?.status === 'True' && stalled.reason === 'InvalidPolicy' && status?.observedGeneration === view.generation;
  return told && view.policy.kind === 'on' && decision.summary.hold?.kind !== 'invalid'
    ? [`The manager says: ${stalled.message}`]
    : [];
};

/** What the cluster's objects say of the manager itself: whether what is decided here will be carried out. */
export const managerNotes = (reading: Reading): string[] => {
  const { kind, view, status, ledger } = reading;
  if (!status)
    return [`No manager has recorded anything of this ${kind.title} yet, so nobody acts: ${kind.noManagerHint}.`];
  const notes: string[] = [];
  if ((status.observedGeneration ?? 0) < view.generation)
    notes.push('The manager has not seen the present template yet: if this lasts, see whether it runs.');
  const refused = status.causes?.find(({ cause }) => cause === 'refused')?.count ?? 0;
  if (refused > 0)
    notes.push(
      `The API server refused the manager's act on ${refused} of the nodes: see Events ${kind.failureEvents} of the DaemonSet ("kubectl describe ${kind.short}/${view.name}").`,
    );
  const { warnings } = view.policy;
  notes.push(
    ...refusedByManager(reading),
    ...warnings.map(({ field, value, problem, cure }) => `${field} "${value}" ${problem}: ${cure}.`),
    ...reading.notes,
  );
  return ledger.tally.eligible === 0 ? [...notes, 'No node is eligible for this DaemonSet.'] : notes;
};
