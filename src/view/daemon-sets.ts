import { isDeepStrictEqual } from 'node:util';
import { saysManaged } from '../controller/index.ts';
import { createReflector, isKubeError, keyOf, pagesOf } from '../kube/index.ts';
import { controllerOf, formatPolicyError, hasUnusableName, optsIn, reportedError } from '../rollout/index.ts';
import { silentLogger } from '../runtime/index.ts';
import { type DaemonRollout, daemonRolloutApi } from '../words/index.ts';
import type { Connection } from './connection.ts';
import type { DaemonSetKind, DaemonSetLike } from './kinds/kind.ts';
import { isNamed, kinds, type Named, ownerOfRollout } from './kinds/names.ts';
import { native } from './kinds/native.ts';

// A DaemonRollout says what a manager last wrote, which may be long ago. The DaemonSets say whether that still holds.

/** Why a status is not about the present. */
export type Doubt = 'waiting' | 'orphaned' | 'replaced' | 'unserved';

/** What the STATUS column says of a status that is not about the present. */
export const doubtTexts: Record<Doubt, string> = {
  waiting: 'Waiting for the manager',
  orphaned: 'Orphaned',
  replaced: 'DaemonSet deleted',
  unserved: 'Not served',
};

/** The STATUS of a rollout, and why that is not about the present, if it isn't. */
export const statusText = ({ status }: DaemonRollout, doubt: Doubt | undefined): string =>
  doubt ? doubtTexts[doubt] : (status?.summary ?? 'Not started');

/** What is kept of a DaemonSet. */
interface Present {
  key: string;
  uid: string | undefined;
  generation: number;
  optedIn: boolean;
  deleting: boolean;
  /** What is wrong with its name, if it can have no DaemonRollout because of that. */
  unusable: string | undefined;
}

interface Presents {
  get(key: string): Present | undefined;
  values(): Iterable<Present>;
}

const unusableName = (kind: DaemonSetKind, object: DaemonSetLike): string | undefined => {
  const policy = object.spec && kind.policyWith(object, {});
  return policy && hasUnusableName(policy) ? policy.errors.map(formatPolicyError).join(' ') : undefined;
};

const toPresent = (kind: DaemonSetKind, object: DaemonSetLike): Present => ({
  key: keyOf(object),
  uid: object.metadata?.uid,
  generation: object.metadata?.generation ?? 0,
  optedIn: kind !== native || optsIn(object.metadata?.annotations ?? {}),
  deleting: object.metadata?.deletionTimestamp !== undefined,
  unusable: unusableName(kind, object),
});

/** The DaemonRollout that the DaemonSet would have, without a status. */
const placeholderOf = (kind: DaemonSetKind, { key, uid = '', unusable }: Present): DaemonRollout => {
  const [namespace = '', name = ''] = key.split('/');
  const { group, version, kind: ownerKind } = kind.resource;
  const owner = { apiVersion: `${group}/${version}`, kind: ownerKind, name, uid, controller: true };
  const stalled = { type: 'Stalled', status: 'True', reason: 'InvalidPolicy', lastTransitionTime: '' };
  return {
    apiVersion: daemonRolloutApi.apiVersion,
    kind: daemonRolloutApi.kind,
    metadata: { namespace, name: kind.rolloutName(name), ownerReferences: [owner] },
    ...(unusable !== undefined && {
      status: { summary: 'Invalid policy', conditions: [{ ...stalled, message: unusable }] },
    }),
  };
};

const doubtOf = (rollout: DaemonRollout, present: Present | undefined): Doubt | undefined => {
  const owner = controllerOf(rollout);
  if (!owner) return 'orphaned';
  if (present?.uid !== owner.uid) return 'replaced';
  const { status } = rollout;
  if (!status || present.deleting || reportedError(status.conditions)) return undefined;
  const isBehind = (status.daemonSetGeneration ?? 0) < present.generation;
  return isBehind || (!present.optedIn && saysManaged(status)) ? 'waiting' : undefined;
};

export interface DaemonSets {
  get: (kind: DaemonSetKind, key: string) => Present | undefined;
  /** From here on, these are the DaemonSets of the kind. */
  use: (kind: DaemonSetKind, known: Presents) => void;
  doubt(rollout: DaemonRollout): Doubt | undefined;
  /**
   * For each DaemonSet that opted in and has no DaemonRollout, one without a status; if it can have none, with a status that
   * says why.
   */
  unserved(rollouts: readonly DaemonRollout[]): DaemonRollout[];
}

/** The DaemonSets in view. A kind is missing if the user may not read it: nothing is doubted on its account then. */
const createDaemonSets = (): DaemonSets => {
  const presents = new Map<DaemonSetKind, Presents>();
  const placeholders = new WeakSet<DaemonRollout>();
  return {
    get: (kind, key) => presents.get(kind)?.get(key),
    use: (kind, known) => void presents.set(kind, known),
    doubt(rollout) {
      if (placeholders.has(rollout)) return rollout.status ? undefined : 'unserved';
      const { kind, name } = ownerOfRollout(rollout);
      const known = presents.get(kind);
      return known && doubtOf(rollout, known.get(`${rollout.metadata.namespace}/${name}`));
    },
    unserved(rollouts) {
      const served = new Set(
        rollouts.map((rollout) => {
          const { kind, name } = ownerOfRollout(rollout);
          return `${kind.short} ${rollout.metadata.namespace}/${name}`;
        }),
      );
      const missing = [...presents].flatMap(([kind, known]) =>
        [...known.values()]
          .filter(({ key, optedIn, deleting }) => optedIn && !deleting && !served.has(`${kind.short} ${key}`))
          .map((present) => placeholderOf(kind, present)),
      );
      for (const one of missing) placeholders.add(one);
      return missing;
    },
  };
};

export interface DaemonSetScope {
  namespace?: string;
  /** Those that the user named; none for all. */
  named: readonly Named[];
}

const whereOf = ({ namespace, named }: DaemonSetScope): { namespace?: string; fieldSelector?: string } => {
  const [name, ...others] = new Set(named.map((one) => one.name));
  return {
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && others.length === 0 && { fieldSelector: `metadata.name=${name}` }),
  };
};

const kindsOf = ({ named }: DaemonSetScope): readonly DaemonSetKind[] =>
  kinds.filter((kind) => named.length === 0 || named.some((one) => (one.kind ?? kind) === kind));

const isInScope = ({ named }: DaemonSetScope, kind: DaemonSetKind, { metadata }: DaemonSetLike): boolean =>
  isNamed(named, kind, metadata?.name ?? '');

/** Reads them once, page by page. */
export const readDaemonSets = async (
  { client }: Pick<Connection, 'client'>,
  scope: DaemonSetScope,
): Promise<DaemonSets> => {
  const daemonSets = createDaemonSets();
  const read = async (kind: DaemonSetKind): Promise<void> => {
    const found = new Map<string, Present>();
    try {
      for await (const { items } of pagesOf(client, kind.resource, whereOf(scope)))
        for (const object of items)
          if (isInScope(scope, kind, object)) found.set(keyOf(object), toPresent(kind, object));
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return;
      // The cluster does not have the kind.
      if (!isKubeError(error, 'NotFound')) throw error;
    }
    daemonSets.use(kind, found);
  };
  await Promise.all(kindsOf(scope).map(read));
  return daemonSets;
};

/**
 * Keeps `daemonSets`, which were read once, up to date until the signal of the returned function aborts. `onChange` receives
 * the key of the DaemonRollout to show again.
 */
export const watchDaemonSets = (
  { client, env }: Pick<Connection, 'client' | 'env'>,
  scope: DaemonSetScope,
  daemonSets: DaemonSets,
  onChange: (rollout: string) => void,
): ((signal: AbortSignal) => Promise<void>) => {
  const reflectors = kindsOf(scope).map((kind) => {
    const changed = ({ key }: Present): void => {
      const [namespace = '', name = ''] = key.split('/');
      onChange(`${namespace}/${kind.rolloutName(name)}`);
    };
    const reflector = createReflector({
      ...whereOf(scope),
      client,
      // Without the right to watch them there is nothing to tell.
      env: { ...env, log: silentLogger },
      resource: kind.resource,
      project: (object: DaemonSetLike) => (isInScope(scope, kind, object) ? toPresent(kind, object) : undefined),
      handlers: [
        {
          // What was read before the watch began is not news.
          upsert: (key: string, present: Present) => {
            if (!isDeepStrictEqual(daemonSets.get(kind, key), present) || reflector.synced) changed(present);
          },
          remove: (_key: string, present: Present) => changed(present),
          synced: () => daemonSets.use(kind, reflector.store),
        },
      ],
    });
    return reflector;
  });
  return async (signal) => void (await Promise.all(reflectors.map((reflector) => reflector.run(signal))));
};
