import {
  type CacheFailure,
  controllerRevisions,
  createReflector,
  type KubeClient,
  type KubeObject,
  type Reflector,
  type ReflectorHandler,
  type Resource,
  splitKey,
} from '../../kube/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { DaemonRollout } from '../../words/index.ts';
import { firstFailure, type InternalError } from '../internal-error.ts';
import {
  controllingDaemonSet,
  type DaemonSetObject,
  type DaemonSetView,
  type Kind,
  type RevisionView,
} from '../kind.ts';
import type { ManagedKind } from '../kind-adapter.ts';
import { toRevisionView } from '../revisions.ts';
import { daemonRollouts, isOrphaned, saysManaged } from '../status/daemon-rollout.ts';

/** What the cache keeps of a DaemonRollout that a DaemonSet of one kind owns, or has left behind. */
export interface RolloutView {
  /** Key of the DaemonSet. */
  daemonSet: string;
  saysManaged: boolean;
}

export const toRolloutView = (
  rollout: DaemonRollout,
  {
    resource,
    daemonSetOf,
  }: Pick<Kind<DaemonSetObject, DaemonSetView, unknown>, 'daemonSetOf'> & {
    resource: Pick<Resource, 'group' | 'kind'>;
  },
): RolloutView | undefined => {
  const { namespace, name = '' } = rollout.metadata;
  const owner = controllingDaemonSet(rollout, resource);
  if (owner) return { daemonSet: `${namespace}/${owner.name}`, saysManaged: saysManaged(rollout.status) };
  // It would describe the rollout of a DaemonSet that is gone forever. Its name is all that is left of that DaemonSet.
  const daemonSet = isOrphaned(rollout) ? daemonSetOf(name) : undefined;
  return daemonSet === undefined ? undefined : { daemonSet: `${namespace}/${daemonSet}`, saysManaged: true };
};

export interface InformersOptions<D extends DaemonSetObject, V extends DaemonSetView, P> {
  kind: Kind<D, V, P> & Pick<ManagedKind<D, V, P>, 'informer'>;
  client: KubeClient;
  env: Env;
  /** Undefined: all namespaces. */
  namespace: string | undefined;
  /** Called each time one of the caches has synced. */
  synced: () => void;
  /** Called each time that what the caches lack has changed. */
  failuresChanged: () => void;
  daemonSets: ReflectorHandler<V>;
  revisions: ReflectorHandler<RevisionView>;
  rollouts: ReflectorHandler<RolloutView>;
}

const OWNER = 'owner';

/** An object that cannot be read may belong to anybody, unless it names other owners. */
const mayBeOwnedBy = (object: KubeObject | undefined, uid: string | undefined): boolean => {
  const owners = object?.metadata?.ownerReferences;
  return !Array.isArray(owners) || owners.length === 0 || owners.some((owner) => owner?.uid === uid);
};

/** The caches of DaemonSets, their revisions and their DaemonRollouts, of one namespace or of all. */
export const createInformers = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  options: InformersOptions<D, V, P>,
) => {
  const { kind, client, env, namespace, synced, failuresChanged, ...handlers } = options;
  const common = <T extends KubeObject, Q>(resource: Resource<T>, handler: ReflectorHandler<Q>) => ({
    client,
    env,
    resource,
    handlers: [handler, { failuresChanged }],
    ...(namespace !== undefined && { namespace }),
  });
  const sets = createReflector({
    ...common(kind.resource, handlers.daemonSets),
    project: (set, known) => kind.toView(set, known),
  });
  const rollouts = createReflector({
    ...common(daemonRollouts, handlers.rollouts),
    project: (rollout) => toRolloutView(rollout, kind),
  });
  const revisions = createReflector({
    ...common(controllerRevisions, handlers.revisions),
    project: (revision) => toRevisionView(revision, kind.resource),
    indexes: { [OWNER]: (revision: RevisionView) => [revision.ownerUid] },
  });
  const other = kind.informer?.({ client, env, ...(namespace !== undefined && { namespace }) });
  other?.addHandler({ failuresChanged });
  return {
    /** As the cache has it. */
    daemonSet: (key: string): V | undefined => sets.store.get(key),
    /** What the caches lack, or may lack, of this DaemonSet; undefined: nothing. `uid`: undefined while it is not known. */
    failure(key: string, uid: string | undefined): InternalError | undefined {
      const inNamespace = (failure: CacheFailure): boolean =>
        splitKey(failure.key).namespace === splitKey(key).namespace;
      return (
        firstFailure(kind.resource.kind, sets.failures, (failure) => failure.key === key) ??
        firstFailure(
          'ControllerRevision',
          revisions.failures,
          (failure) => inNamespace(failure) && mayBeOwnedBy(failure.object, uid),
        ) ??
        (other && firstFailure('native DaemonSet', other.failures, inNamespace))
      );
    },
    /** Keys of the DaemonSets that their DaemonRollouts call managed. */
    *managed(): Generator<string> {
      for (const { daemonSet, saysManaged: managed } of rollouts.store.values()) if (managed) yield daemonSet;
    },
    revisionsOf: (ownerUid: string): readonly RevisionView[] => revisions.store.byIndex(OWNER, ownerUid),
    /** Does not wait for DaemonRollouts: nothing is decided on their cache, which may be stale. */
    synced: (): boolean => sets.synced && revisions.synced && (other?.synced ?? true),
    namespace,
    /** See `Reflector`, for a DaemonSet. */
    accept: (daemonSet: D): void => sets.accept(daemonSet),
    acceptDeletion: (key: string, uid: string): void => sets.acceptDeletion(key, uid),
    /** See `Reflector`, for DaemonSets and any other watch that decisions depend on. */
    isCurrent: (): boolean => sets.isCurrent() && (other?.isCurrent() ?? true),
    run: async (signal: AbortSignal): Promise<void> => {
      const all: readonly Reflector<unknown>[] = [sets, revisions, rollouts, ...(other ? [other] : [])];
      for (const reflector of all) reflector.whenSynced(signal).then(synced, () => undefined);
      await Promise.all(all.map((reflector) => reflector.run(signal)));
    },
  };
};
