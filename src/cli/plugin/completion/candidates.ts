import { readLiveDaemonSet, readRevisions } from '../../../commands/index.ts';
import { daemonRollouts } from '../../../controller/index.ts';
import { type KubeObject, kubeconfigNames, namespaces, nodes } from '../../../kube/index.ts';
import {
  advanced,
  type Connection,
  type ConnectionFlags,
  type DaemonSetKind,
  findKind,
  kinds,
  native,
  ownerOfRollout,
  readKind,
  readName,
  withCluster,
} from '../../../view/index.ts';
import { REST_STAGE } from '../../../words/index.ts';
import type { Io } from '../../io.ts';

export interface Candidate {
  value: string;
  description: string;
}

/** The user has pressed Tab: later answers are of no use. */
const DEADLINE_MS = 1_500;
const MOST = 500;

/** Queries the cluster. Resolves with nothing on errors and timeouts: a completion prints no messages. */
const query = <T>(
  flags: ConnectionFlags,
  io: Io,
  work: (connection: Connection, signal: AbortSignal) => Promise<T[]>,
): Promise<T[]> => {
  const timed = async (connection: Connection): Promise<T[]> => {
    // The timeout starts here: loading these modules can take a while on a busy machine.
    const controller = new AbortController();
    const timer = connection.env.clock.timer(DEADLINE_MS, () => controller.abort());
    return work(connection, controller.signal).finally(() => timer.cancel());
  };
  return withCluster(flags, io, timed, { maxRetries: 0, terminal: false }).catch(() => []);
};

/** Names of nodes or namespaces. */
export const completeObjects = (what: '--node' | '--namespace', flags: ConnectionFlags, io: Io): Promise<string[]> =>
  query(flags, io, async ({ client }, signal) => {
    const { items } = await client.list<KubeObject>(what === '--node' ? nodes : namespaces, { limit: MOST, signal });
    return items.map(({ metadata }) => metadata?.name ?? '');
  });

/** Names in the kubeconfig. */
export const completeKubeconfig = async (
  what: 'context' | 'cluster' | 'user',
  { kubeconfig }: ConnectionFlags,
  { environment }: Io,
): Promise<string[]> => {
  const names = await kubeconfigNames({ kubeconfig, env: environment }).catch(() => undefined);
  return names?.[what] ?? [];
};

/** Which DaemonSets to offer: managed ones, all, or those that have a DaemonRollout. */
export type DaemonSetFilter = 'served' | 'any' | 'rollout';

interface Found {
  kind: DaemonSetKind;
  name: string;
}

/** The shortest unambiguous names: the bare name of a native DaemonSet unless an Advanced one has it, too. */
const shortNames = (found: readonly Found[]): string[] => {
  const taken = new Set(found.filter(({ kind }) => kind === advanced).map(({ name }) => name));
  return found.map(({ kind, name }) => (kind === native && !taken.has(name) ? name : `${kind.short}/${name}`));
};

/** Names of DaemonSets. `prefix` is the kind that was typed before a slash, if any. */
export const completeDaemonSets = (
  offered: DaemonSetFilter,
  prefix: string | undefined,
  flags: ConnectionFlags,
  io: Io,
): Promise<string[]> =>
  query(flags, io, async ({ client, namespace }, signal) => {
    const where = { namespace, limit: MOST, signal };
    const wanted = prefix === undefined ? undefined : readKind(prefix);
    if (prefix !== undefined && wanted === undefined) return [];
    if (offered === 'rollout' || wanted === 'rollout') {
      const { items } = await client.list(daemonRollouts, where);
      if (wanted === 'rollout') return items.map(({ metadata }) => `${prefix}/${metadata.name}`);
      const found = items.map(ownerOfRollout);
      return wanted
        ? found.filter(({ kind }) => kind === wanted).map(({ name }) => `${prefix}/${name}`)
        : shortNames(found);
    }
    const listed = await Promise.all(
      kinds
        .filter((kind) => wanted === undefined || kind === wanted)
        .map(async (kind): Promise<Found[]> => {
          // The cluster may not have the kind, or the user may not be allowed to list it.
          const all = await kind.list(client, where).catch(() => []);
          const served = all.filter(({ policy }) => offered === 'any' || policy.kind !== 'off');
          return served.map(({ object }) => ({ kind, name: object.metadata?.name ?? '' }));
        }),
    );
    return wanted ? listed.flat().map(({ name }) => `${prefix}/${name}`) : shortNames(listed.flat());
  });

/** The revision numbers of a DaemonSet, newest first, with their images. */
export const completeRevisions = (text: string, flags: ConnectionFlags, io: Io): Promise<Candidate[]> =>
  query(flags, io, async (connection, signal) => {
    const named = readName(text);
    const kind = await findKind(connection, named, { signal });
    const { object } = await readLiveDaemonSet(connection, kind, named.name, { signal });
    const revisions = await readRevisions(connection, object, { signal });
    return revisions.toReversed().map(({ number, images }) => ({ value: `${number}`, description: images.join(', ') }));
  });

/** The stages that a rollout has not passed yet, in the order of its plan, with the state of each. */
export const completeStages = (text: string, flags: ConnectionFlags, io: Io): Promise<Candidate[]> =>
  query(flags, io, async (connection, signal) => {
    const { client, namespace } = connection;
    const named = readName(text);
    const kind = await findKind(connection, named, { signal });
    const rollout = await client.get(daemonRollouts, { namespace, name: kind.rolloutName(named.name) }, { signal });
    return (ownerOfRollout(rollout).kind === kind ? (rollout.status?.stages ?? []) : [])
      .filter(({ name, state }) => state !== 'Passed' && name !== REST_STAGE)
      .map(({ name, state, awaits }) => ({
        value: name,
        description: awaits ? `${state}: ${awaits.message}` : state,
      }));
  });
