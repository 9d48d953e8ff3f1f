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

/** The status of a DaemonSet that is being rolled out changes several times a second, and its resourceVersion with it. */
const TRIES = 10;

/** A merge patch without the object's own identity. */
interface Change {
  metadata?: { annotations: Record<string, string | null> };
  spec?: object;
}

/** What is to be done, and what is said of it; without a change, nothing is to be done. */
interface Verdict {
  change?: Change;
  said: string;
  note?: string;
}

/** A DaemonSet that edgeset rolls out, as it is now. */
interface Read extends DaemonSetState {
  kind: DaemonSetKind;
  name: string;
}

const read = async (connection: Connection, kind: DaemonSetKind, name: string): Promise<Read> => {
  const subject = await readDaemonSet(connection, kind, name);
  if (subject.policy.kind === 'off') throw kind.notServed(connection.namespace, name);
  return { ...subject, kind, name };
};

/** Refused with Conflict unless the DaemonSet is as it was read. */
const write = async (
  { client, namespace }: Connection,
  { kind, name, object }: Read,
  { metadata, spec }: Change,
  dryRun: DryRun,
): Promise<void> => {
  const { uid, resourceVersion } = object.metadata ?? {};
  const patch = { metadata: { uid, resourceVersion, ...metadata }, ...(spec && { spec }) };
  const how = { fieldManager: FIELD_MANAGER, dryRun: dryRun === 'server' };
  await client.patch(kind.resource, { namespace, name }, patch, { type: 'merge', ...how });
};

/** The status of its rollout, when it speaks of the present template. */
const statusOf = async (
  connection: Connection,
  { kind, name, object: { metadata } }: Read,
): Promise<DaemonRolloutStatus | undefined> => {
  const status = await readStatus(connection, kind.rolloutName(name), metadata?.uid);
  return (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0) ? status : undefined;
};

const act = async (
  text: string,
  flags: PauseFlags,
  io: Io,
  judge: (daemonSet: Read, connection: Connection) => Verdict | Promise<Verdict>,
): Promise<void> => {
  const named = readName(text);
  const { dryRun = 'none' } = flags;
  await withCluster(flags, io, async (connection) => {
    const kind = await findKind(connection, named);
    for (let tries = 1; ; tries += 1) {
      const daemonSet = await read(connection, kind, named.name);
      const { change, said, note } = await judge(daemonSet, connection);
      try {
        if (change && dryRun !== 'client') await write(connection, daemonSet, change, dryRun);
      } catch (error) {
        if (!isKubeError(error, 'Conflict')) throw error;
        // Somebody else changed it since it was read: what is to be done is judged anew.
        if (tries < TRIES) continue;
        throw new CommandError(
          'Changed',
          `${kind.title} ${connection.namespace}/${named.name} changes too fast, and nothing was written: try again`,
          error,
        );
      }
      io.stdout(`${kind.label}/${named.name} ${said}${change ? dryRunSuffix(dryRun) : ''}\n`);
      if (note !== undefined) io.stderr(`Note: ${note}\n`);
      return;
    }
  });
};

/** Where a user deletes pods by hand no pause holds them. */
const noteOnPause = ({ policy }: Read): Pick<Verdict, 'note'> =>
  policy.kind !== 'off' && policy.policy.strategy === 'manual'
    ? { note: 'The update strategy is OnDelete: a pod that is deleted comes back at the target revision all the same.' }
    : {};

export const pause = (text: string, flags: PauseFlags, io: Io): Promise<void> =>
  act(text, flags, io, (daemonSet) =>
    daemonSet.pause === 'on'
      ? { said: 'is paused already', ...noteOnPause(daemonSet) }
      : { change: daemonSet.kind.pausePatch(true), said: 'paused', ...noteOnPause(daemonSet) },
  );

/** A value of the resume annotation that differs from the one honoured last: the hash, then the hash with a counter. */
export const resumeValue = (hash: string, last: string | undefined): string => {
  const [lastHash, counter = '1'] = (last ?? '').split('/');
  return lastHash === hash ? `${hash}/${Number(counter) + 1 || 2}` : hash;
};

export const resume = (text: string, flags: PauseFlags, io: Io): Promise<void> =>
  act(text, flags, io, async (daemonSet, connection) => {
    const { kind, policy } = daemonSet;
    const paused = daemonSet.pause !== 'off';
    const status = await statusOf(connection, daemonSet);
    const halted = status?.halted ? status.target?.hash : undefined;
    if (!paused && halted === undefined) {
      const frozen = status?.conditions?.some(({ reason, status: is }) => reason === 'ZeroBudget' && is === 'True');
      const budget = policy.kind === 'off' ? '' : policy.policy.words.maxUnavailable;
      return { said: `is neither paused nor halted${frozen ? `; its ${budget} is zero` : ''}` };
    }
    const unpause = paused ? kind.pausePatch(false) : {};
    const consent = halted === undefined ? {} : { [annotation.resume]: resumeValue(halted, status?.resumed) };
    return {
      change: { ...unpause, metadata: { annotations: { ...unpause.metadata?.annotations, ...consent } } },
      said: halted === undefined ? 'unpaused' : `resumed at revision ${halted}`,
    };
  });
