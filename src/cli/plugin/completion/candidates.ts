import type { Namespace, Node } from 'kubernetes-types/core/v1.d.ts';
import { daemonRollouts } from '../../../controller/index.ts';
import { createClient, defineResource, type KubeObject, loadClusterConfig } from '../../../kube/index.ts';
import { silentLogger, systemClock } from '../../../runtime/index.ts';
import type { ConnectionFlags } from '../../commands.ts';
import type { Io } from '../../io.ts';
import { version } from '../../version.ts';
import type { Connection } from '../connection.ts';
import { readLiveDaemonSet, readRevisions } from '../history/revisions.ts';
import { advanced } from '../kinds/advanced.ts';
import type { DaemonSetKind } from '../kinds/kind.ts';
import { findKind, kinds, readKind, readName, readRolloutName } from '../kinds/names.ts';
import { native } from '../kinds/native.ts';
import type { Candidate } from './complete.ts';

/** Somebody holds a finger on Tab: later answers are of no use. */
const DEADLINE_MS = 1_500;
const MOST = 500;

const nodes = defineResource<Node>({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false });
const namespaces = defineResource<Namespace>({
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
});

/** What is found in the cluster; nothing when it does not answer in time, or refuses: nobody asked for a message. */
const ask = async <T>(
  flags: ConnectionFlags,
  io: Io,
  work: (connection: Connection, signal: AbortSignal) => Promise<T[]>,
): Promise<T[]> => {
  const environment = { ...io.environment };
  try {
    const config = await loadClusterConfig({ kubeconfig: flags.kubeconfig, context: flags.context, env: environment });
    const env = { clock: systemClock, random: io.random, log: silentLogger };
    const client = createClient(config, {
      env,
      environment,
      userAgent: `kubectl-edgeset/${version}`,
      maxRetries: 0,
      terminal: false,
    });
    // What a busy machine takes to load all this is not the cluster's doing.
    const controller = new AbortController();
    const timer = systemClock.timer(DEADLINE_MS, () => controller.abort());
    try {
      return await work({ client, env, namespace: flags.namespace ?? config.namespace }, controller.signal);
    } finally {
      timer.cancel();
      await client.close();
    }
  } catch {
    return [];
  }
};

/** Names of nodes or namespaces. */
export const completeObjects = (what: '--node' | '--namespace', flags: ConnectionFlags, io: Io): Promise<string[]> =>
  ask(flags, io, async ({ client }, signal) => {
    const { items } = await client.list<KubeObject>(what === '--node' ? nodes : namespaces, { limit: MOST, signal });
    return items.map(({ metadata }) => metadata?.name ?? '');
  });

/** Which DaemonSets are offered: those that edgeset rolls out, all, or those that have a DaemonRollout. */
export type DaemonSetFilter = 'served' | 'any' | 'rollout';

interface Found {
  kind: DaemonSetKind;
  name: string;
}

/** As short as they can be typed back: a native one by its bare name where no other has it. */
const spelled = (found: readonly Found[]): string[] => {
  const taken = new Set(found.filter(({ kind }) => kind === advanced).map(({ name }) => name));
  return found.map(({ kind, name }) => (kind === native && !taken.has(name) ? name : `${kind.short}/${name}`));
};

/** DaemonSets, in the spelling of `prefix`, which is what was typed up to a slash; undefined for none. */
export const completeDaemonSets = (
  offered: DaemonSetFilter,
  prefix: string | undefined,
  flags: ConnectionFlags,
  io: Io,
): Promise<string[]> =>
  ask(flags, io, async ({ client, namespace }, signal) => {
    const where = { namespace, limit: MOST, signal };
    const wanted = prefix === undefined ? undefined : readKind(prefix);
    if (prefix !== undefined && wanted === undefined) return [];
    if (offered === 'rollout' || wanted === 'rollout') {
      const { items } = await client.list(daemonRollouts, where);
      const names = items.map(({ metadata }) => metadata.name ?? '');
      if (wanted === 'rollout') return names.map((name) => `${prefix}/${name}`);
      const found = names.map(readRolloutName);
      return wanted
        ? found.filter(({ kind }) => kind === wanted).map(({ name }) => `${prefix}/${name}`)
        : spelled(found);
    }
    const listed = await Promise.all(
      kinds
        .filter((kind) => wanted === undefined || kind === wanted)
        .map(async (kind): Promise<Found[]> => {
          // One of the kinds may be unknown there, or none of this person's business.
          const all = await kind.list(client, where).catch(() => []);
          const served = all.filter(({ policy }) => offered === 'any' || policy.kind !== 'off');
          return served.map(({ object }) => ({ kind, name: object.metadata?.name ?? '' }));
        }),
    );
    return wanted ? listed.flat().map(({ name }) => `${prefix}/${name}`) : spelled(listed.flat());
  });

/** Numbers of the revisions that a DaemonSet keeps, the newest first, with their images. */
export const completeRevisions = (text: string, flags: ConnectionFlags, io: Io): Promise<Candidate[]> =>
  ask(flags, io, async (connection, signal) => {
    const named = readName(text);
    const kind = await findKind(connection, named, { signal });
    const { object } = await readLiveDaemonSet(connection, kind, named.name, { signal });
    const revisions = await readRevisions(connection, object, { signal });
    return revisions.toReversed().map(({ number, images }) => ({ value: `${number}`, description: images.join(', ') }));
  });
