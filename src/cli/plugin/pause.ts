import { isKubeError } from '../../kube/index.ts';
import { annotation, type DaemonRolloutStatus } from '../../rollout/index.ts';
import type { DryRun, PauseFlags } from '../commands.ts';
import type { Io } from '../io.ts';
import { type Connection, FIELD_MANAGER, withCluster } from './connection.ts';
import { CommandError } from './errors.ts';
import type { DaemonSetKind, DaemonSetState } from './kinds/kind.ts';
import { findKind, readName } from './kinds/names.ts';
import { readDaemonSet, readStatus } from './read-rollout.ts';
import { dryRunSuffix } from './text.ts';

/** During a rollout, the DaemonSet's status and thus its resourceVersion change several times a second. */
const TRIES = 10;

/** A merge patch without the object's identity. */
interface Change {
  metadata?: { annotations: Record<string, string | null> };
  spec?: object;
}

/** The change to make, if any, and the message to print. */
interface Verdict {
  change?: Change;
  message: string;
  note?: string;
}

/** A managed DaemonSet, as read from the API server. */
interface Target extends DaemonSetState {
  kind: DaemonSetKind;
  name: string;
}

const read = async (connection: Connection, kind: DaemonSetKind, name: string): Promise<Target> => {
  const subject = await readDaemonSet(connection, kind, name);
  if (subject.policy.kind === 'off') throw kind.notServed(connection.namespace, name);
  return { ...subject, kind, name };
};

/** Fails with Conflict if the DaemonSet has changed since it was read. */
const write = async (
  { client, namespace }: Connection,
  { kind, name, object }: Target,
  { metadata, spec }: Change,
  dryRun: DryRun,
): Promise<void> => {
  const { uid, resourceVersion } = object.metadata ?? {};
  const patch = { metadata: { uid, resourceVersion, ...metadata }, ...(spec && { spec }) };
  const how = { fieldManager: FIELD_MANAGER, dryRun: dryRun === 'server' };
  await client.patch(kind.resource, { namespace, name }, patch, { type: 'merge', ...how });
};

/** The status of its rollout, if it is about the current template. */
const statusOf = async (
  connection: Connection,
  { kind, name, object: { metadata } }: Target,
): Promise<DaemonRolloutStatus | undefined> => {
  const status = await readStatus(connection, kind.rolloutName(name), metadata?.uid);
  return (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0) ? status : undefined;
};

const applyTo = async (
  text: string,
  flags: PauseFlags,
  io: Io,
  decide: (daemonSet: Target, connection: Connection) => Verdict | Promise<Verdict>,
): Promise<void> => {
  const named = readName(text);
  const { dryRun = 'none' } = flags;
  await withCluster(flags, io, async (connection) => {
    const kind = await findKind(connection, named);
    for (let tries = 1; ; tries += 1) {
      const daemonSet = await read(connection, kind, named.name);
      const { change, message, note } = await decide(daemonSet, connection);
      try {
        if (change && dryRun !== 'client') await write(connection, daemonSet, change, dryRun);
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
      io.stdout(`${kind.label}/${named.name} ${message}${change ? dryRunSuffix(dryRun) : ''}\n`);
      if (note !== undefined) io.stderr(`Note: ${note}\n`);
      return;
    }
  });
};

/** A pause does not affect pods that a user deletes. */
const noteOnPause = ({ policy }: Target): Pick<Verdict, 'note'> =>
  policy.kind !== 'off' && policy.policy.strategy === 'manual'
    ? { note: 'The update strategy is OnDelete: a pod that you delete is still recreated at the target revision.' }
    : {};

export const pause = (text: string, flags: PauseFlags, io: Io): Promise<void> =>
  applyTo(text, flags, io, (daemonSet) =>
    daemonSet.pause === 'on'
      ? { message: 'is already paused', ...noteOnPause(daemonSet) }
      : { change: daemonSet.kind.pausePatch(true), message: 'paused', ...noteOnPause(daemonSet) },
  );

/** A value of the resume annotation that differs from the last one: the hash, or the hash with a counter. */
export const resumeValue = (hash: string, last: string | undefined): string => {
  const [lastHash, counter = '1'] = (last ?? '').split('/');
  return lastHash === hash ? `${hash}/${Number(counter) + 1 || 2}` : hash;
};

export const resume = (text: string, flags: PauseFlags, io: Io): Promise<void> =>
  applyTo(text, flags, io, async (daemonSet, connection) => {
    const { kind, policy } = daemonSet;
    const paused = daemonSet.pause !== 'off';
    const status = await statusOf(connection, daemonSet);
    const halted = status?.halted ? status.target?.hash : undefined;
    if (!paused && halted === undefined) {
      const zeroBudget = status?.conditions?.some(({ reason, status: is }) => reason === 'ZeroBudget' && is === 'True');
      const budget = policy.kind === 'off' ? '' : policy.policy.words.maxUnavailable;
      return { message: `is neither paused nor halted${zeroBudget ? `; its ${budget} is zero` : ''}` };
    }
    const unpause = paused ? kind.pausePatch(false) : {};
    const consent = halted === undefined ? {} : { [annotation.resume]: resumeValue(halted, status?.resumed) };
    return {
      change: { ...unpause, metadata: { annotations: { ...unpause.metadata?.annotations, ...consent } } },
      message: halted === undefined ? 'unpaused' : `resumed at revision ${halted}`,
    };
  });
