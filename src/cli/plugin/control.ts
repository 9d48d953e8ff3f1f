import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { isKubeError } from '../../kube/index.ts';
import { NotOptedInError } from '../../native/index.ts';
import { daemonSets } from '../../resources/index.ts';
import { annotation, type DaemonRolloutStatus } from '../../rollout/index.ts';
import type { Io } from '../io.ts';
import { type Connection, FIELD_MANAGER, withCluster } from './connect.ts';
import type { ControlFlags } from './control-commands.ts';
import { daemonSetNotFound } from './failure.ts';
import { asTried, type DryRun } from './flags.ts';
import { readStatus } from './reading.ts';
import { hasOptedIn } from './standing.ts';
import { readDaemonSetName } from './text.ts';

/** The DaemonSet, when it is one that edgeset rolls out. */
const read = async ({ client, namespace }: Connection, name: string): Promise<DaemonSet> => {
  try {
    const daemonSet = await client.get(daemonSets, { namespace, name });
    if (hasOptedIn(daemonSet)) return daemonSet;
  } catch (error) {
    throw isKubeError(error, 'NotFound') ? daemonSetNotFound(namespace, name, error) : error;
  }
  throw new NotOptedInError(namespace, name);
};

const annotate = async (
  { client, namespace }: Connection,
  { metadata }: DaemonSet,
  annotations: Record<string, string | null>,
  dryRun: DryRun,
): Promise<void> => {
  if (dryRun === 'client') return;
  const name = metadata?.name ?? '';
  // The UID is a precondition: not another DaemonSet of the same name, should this one be replaced meanwhile.
  const patch = { metadata: { uid: metadata?.uid, annotations } };
  const write = { fieldManager: FIELD_MANAGER, dryRun: dryRun === 'server' };
  await client.patch(daemonSets, { namespace, name }, patch, { type: 'merge', ...write });
};

/** The status of its rollout, when it speaks of the present template. */
const statusOf = async (connection: Connection, { metadata }: DaemonSet): Promise<DaemonRolloutStatus | undefined> => {
  const status = await readStatus(connection, metadata?.name ?? '', metadata?.uid);
  return (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0) ? status : undefined;
};

/** An annotation that is there holds the rollout unless it says `false`; one that cannot be read makes it invalid. */
const isPaused = ({ metadata }: DaemonSet): boolean =>
  (metadata?.annotations?.[annotation.paused] ?? 'false').trim().toLowerCase() !== 'false';

const isPausedAlready = ({ metadata }: DaemonSet): boolean =>
  metadata?.annotations?.[annotation.paused]?.trim().toLowerCase() === 'true';

const act = async (
  text: string,
  flags: ControlFlags,
  io: Io,
  change: (
    daemonSet: DaemonSet,
    connection: Connection,
  ) => Promise<{ annotations?: Record<string, string | null>; said: string }>,
): Promise<void> => {
  const name = readDaemonSetName(text);
  const { dryRun = 'none' } = flags;
  await withCluster(flags, io, async (connection) => {
    const daemonSet = await read(connection, name);
    const { annotations, said } = await change(daemonSet, connection);
    if (annotations) await annotate(connection, daemonSet, annotations, dryRun);
    io.stdout(`daemonset.apps/${name} ${said}${annotations ? asTried(dryRun) : ''}\n`);
  });
};

export const pause = (text: string, flags: ControlFlags, io: Io): Promise<void> =>
  act(text, flags, io, async (daemonSet) =>
    isPausedAlready(daemonSet)
      ? { said: 'is paused already' }
      : { annotations: { [annotation.paused]: 'true' }, said: 'paused' },
  );

/** A value of the resume annotation that differs from the one honoured last: the hash, then the hash with a counter. */
export const resumeValue = (hash: string, last: string | undefined): string => {
  const [lastHash, counter = '1'] = (last ?? '').split('/');
  return lastHash === hash ? `${hash}/${Number(counter) + 1 || 2}` : hash;
};

export const resume = (text: string, flags: ControlFlags, io: Io): Promise<void> =>
  act(text, flags, io, async (daemonSet, connection) => {
    const paused = isPaused(daemonSet);
    const status = await statusOf(connection, daemonSet);
    const halted = status?.halted ? status.target?.hash : undefined;
    if (!paused && halted === undefined) {
      const frozen = status?.conditions?.some(({ reason, status: is }) => reason === 'ZeroBudget' && is === 'True');
      return { said: `is neither paused nor halted${frozen ? `; its ${annotation.maxUnavailable} is zero` : ''}` };
    }
    return {
      annotations: {
        ...(paused && { [annotation.paused]: null }),
        ...(halted !== undefined && { [annotation.resume]: resumeValue(halted, status?.resumed) }),
      },
      said: halted === undefined ? 'unpaused' : `resumed at revision ${halted}`,
    };
  });
