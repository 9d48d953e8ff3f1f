import { isKubeError, type KubeObject } from '../kube/index.ts';
import {
  CommandError,
  type Connection,
  type DaemonSetKind,
  type DaemonSetLike,
  type DaemonSetState,
  FIELD_MANAGER,
  findKind,
  type Named,
  readDaemonSet,
  readStatus,
} from '../view/index.ts';
import type { DaemonRolloutStatus } from '../words/index.ts';

/** `client`: nothing is sent. `server`: the API server validates the change, and doesn't make it. */
export type DryRun = 'none' | 'client' | 'server';

export interface ChangeOptions {
  /** Default: none. */
  dryRun?: DryRun | undefined;
}

/** A setting, or a field of the template, before and after. */
export interface FieldChange {
  what: string;
  from: string;
  to: string;
}

/** What a command has written, or would write. */
export interface Written {
  /** As kubectl prints it: `daemonset.apps/web`. */
  label: string;
  object: KubeObject;
  /** What was done, for people. */
  lines: readonly string[];
  /** What they should know about it. */
  notes: readonly string[];
  /** Absent where it changes no field that has a value before and after. */
  changes?: readonly FieldChange[];
  /** There was nothing to write. */
  isSame?: boolean;
}

/** Appended to the message for a change that was not made. */
export const dryRunSuffix = (dryRun: DryRun): string =>
  ({ none: '', client: ' (dry run)', server: ' (server dry run)' })[dryRun];

/** During a rollout, the DaemonSet's status and thus its resourceVersion change several times a second. */
const TRIES = 10;

/** A merge patch without the object's identity. */
interface Change {
  metadata?: { annotations: Record<string, string | null> };
  spec?: object;
}

/** The change to make, if any, and the message to print. */
export interface Verdict {
  change?: Change;
  message: string;
  notes?: readonly string[];
  changes?: readonly FieldChange[];
}

/** A managed DaemonSet, as read from the API server. */
export interface Target extends DaemonSetState {
  kind: DaemonSetKind;
  name: string;
}

/** Rejects with the kind's own error if the DaemonSet is not managed. */
export const readManaged = async (connection: Connection, kind: DaemonSetKind, name: string): Promise<Target> => {
  const subject = await readDaemonSet(connection, kind, name);
  if (subject.policy.kind === 'off') throw kind.notServed(connection.namespace, name);
  return { ...subject, kind, name };
};

/** RFC 7386, as the API server applies a merge patch. */
const merged = (into: unknown, patch: unknown): unknown => {
  if (typeof patch !== 'object' || patch === null) return patch;
  const result: Record<string, unknown> = { ...(typeof into === 'object' ? into : {}) };
  for (const [key, value] of Object.entries(patch))
    if (value === undefined) continue;
    else if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  return result;
};

/** Fails with Conflict if the DaemonSet has changed since it was read. Resolves with the DaemonSet as written. */
const write = async (
  { client, namespace }: Connection,
  { kind, name, object }: Target,
  { metadata, spec }: Change,
  dryRun: DryRun,
): Promise<DaemonSetLike> => {
  if (dryRun === 'client') return merged(object, { metadata, spec }) as DaemonSetLike;
  const { uid, resourceVersion } = object.metadata ?? {};
  const patch = { metadata: { uid, resourceVersion, ...metadata }, ...(spec && { spec }) };
  const how = { fieldManager: FIELD_MANAGER, dryRun: dryRun === 'server' };
  return client.patch(kind.resource, { namespace, name }, patch, { type: 'merge', ...how });
};

/** The status of its rollout, if it is about the current template. */
export const statusOf = async (
  connection: Connection,
  { kind, name, object: { metadata } }: Target,
): Promise<DaemonRolloutStatus | undefined> => {
  const status = await readStatus(connection, kind.rolloutName(name), metadata?.uid);
  return (status?.daemonSetGeneration ?? 0) >= (metadata?.generation ?? 0) ? status : undefined;
};

/** Decides on the DaemonSet as it is and writes the change; decides again if somebody else has changed it meanwhile. */
export const changeDaemonSet = async (
  connection: Connection,
  named: Named,
  { dryRun = 'none' }: ChangeOptions,
  decide: (daemonSet: Target) => Verdict | Promise<Verdict>,
): Promise<Written> => {
  const kind = await findKind(connection, named);
  const label = `${kind.label}/${named.name}`;
  for (let tries = 1; ; tries += 1) {
    const daemonSet = await readManaged(connection, kind, named.name);
    const { change, message, notes = [], changes } = await decide(daemonSet);
    try {
      const object = change ? await write(connection, daemonSet, change, dryRun) : daemonSet.object;
      const lines = [`${label} ${message}${change ? dryRunSuffix(dryRun) : ''}`];
      return { label, object, lines, notes, ...(changes && { changes }), ...(!change && { isSame: true }) };
    } catch (error) {
      if (!isKubeError(error, 'Conflict')) throw error;
      // The DaemonSet has changed since it was read: read it again and decide again.
      if (tries < TRIES) continue;
      throw new CommandError(
        'Changed',
        `${kind.title} ${connection.namespace}/${named.name} is changing too fast, so nothing was written: try again`,
        error,
      );
    }
  }
};
