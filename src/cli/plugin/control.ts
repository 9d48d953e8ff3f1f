import { isKubeError, type KubeClient } from '../../kube/index.ts';
import { daemonRollouts, daemonSets } from '../../native/index.ts';
import { annotation, type DaemonRolloutStatus } from '../../rollout/index.ts';
import type { Io } from '../io.ts';
import { type Connection, withCluster } from './connect.ts';
import type { ControlFlags } from './control-commands.ts';
import { readDaemonSetName } from './text.ts';

const FIELD_MANAGER = 'kubectl-edgeset';

const annotate = async (
  { client, namespace }: Connection,
  name: string,
  annotations: Record<string, string | null>,
  dryRun: boolean,
): Promise<void> => {
  await client.patch(
    daemonSets,
    { namespace, name },
    { metadata: { annotations } },
    { type: 'merge', fieldManager: FIELD_MANAGER, dryRun },
  );
};

const statusOf = async (
  client: KubeClient,
  namespace: string,
  name: string,
): Promise<DaemonRolloutStatus | undefined> => {
  try {
    return (await client.get(daemonRollouts, { namespace, name })).status;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
};

const suffix = (dryRun: boolean): string => (dryRun ? ' (server dry run)' : '');

export const pause = async (text: string, { dryRun = false, ...flags }: ControlFlags, io: Io): Promise<void> => {
  const name = readDaemonSetName(text);
  await withCluster(flags, io, async (connection) => {
    await annotate(connection, name, { [annotation.paused]: 'true' }, dryRun);
    io.stdout(`daemonset.apps/${name} paused${suffix(dryRun)}\n`);
  });
};

/** A value of the resume annotation that differs from the one honoured last: the hash, then the hash with a counter. */
export const resumeValue = (hash: string, last: string | undefined): string => {
  const [lastHash, counter = '1'] = (last ?? '').split('/');
  return lastHash === hash ? `${hash}/${Number(counter) + 1 || 2}` : hash;
};

export const resume = async (text: string, { dryRun = false, ...flags }: ControlFlags, io: Io): Promise<void> => {
  const name = readDaemonSetName(text);
  await withCluster(flags, io, async (connection) => {
    const { client, namespace } = connection;
    const [daemonSet, status] = await Promise.all([
      client.get(daemonSets, { namespace, name }),
      statusOf(client, namespace, name),
    ]);
    const paused = daemonSet.metadata?.annotations?.[annotation.paused] !== undefined;
    const halted = status?.halted && status.target ? status.target.hash : undefined;
    if (!paused && halted === undefined) {
      io.stdout(`daemonset.apps/${name} is neither paused nor halted\n`);
      return;
    }
    const annotations = {
      ...(paused && { [annotation.paused]: null }),
      ...(halted !== undefined && { [annotation.resume]: resumeValue(halted, status?.resumed) }),
    };
    await annotate(connection, name, annotations, dryRun);
    const what = halted === undefined ? 'unpaused' : `resumed at revision ${halted}`;
    io.stdout(`daemonset.apps/${name} ${what}${suffix(dryRun)}\n`);
  });
};
