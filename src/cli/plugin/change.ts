import { isKubeError } from '../../kube/index.ts';
import type { DaemonRolloutStatus } from '../../words/index.ts';
import { toLines } from '../escape.ts';
import type { Io } from '../io.ts';
import { type Connection, type ConnectionFlags, FIELD_MANAGER, withCluster } from './connection.ts';
import { CommandError } from './errors.ts';
import type { DaemonSetKind, DaemonSetLike, DaemonSetState } from './kinds/kind.ts';
import { findKind, readName } from './kinds/names.ts';
import { readDaemonSet, readStatus } from './read-rollout.ts';
import { type DryRun, dryRunSuffix, structured, withoutManagedFields } from './text.ts';

/** The flags of commands that change a DaemonSet. */
export interface ChangeFlags extends ConnectionFlags {
  dryRun?: DryRun;
  output?: 'json' | 'yaml' | 'name';
}

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
  text: string,
  flags: ChangeFlags,
  io: Io,
  decide: (daemonSet: Target, connection: Connection) => Verdict | Promise<Verdict>,
): Promise<void> => {
  const named = readName(text);
  const { dryRun = 'none', output } = flags;
  await withCluster(flags, io, async (connection) => {
    const kind = await findKind(connection, named);
    for (let tries = 1; ; tries += 1) {
      const daemonSet = await readManaged(connection, kind, named.name);
      const { change, message, notes = [] } = await decide(daemonSet, connection);
      let { object } = daemonSet;
      try {
        if (change) object = await write(connection, daemonSet, change, dryRun);
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
      if (output === 'name') io.data(toLines(`${kind.label}/${named.name}`));
      else if (output) io.data(structured(withoutManagedFields(object), output));
      else io.stdout(toLines(`${kind.label}/${named.name} ${message}${change ? dryRunSuffix(dryRun) : ''}`));
      if (notes.length > 0) io.stderr(toLines(...notes.map((note) => `Note: ${note}`)));
      return;
    }
  });
};
