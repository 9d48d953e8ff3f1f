import {
  createReflector,
  type KubeClient,
  type KubeObject,
  type ReflectorHandler,
  type Resource,
} from '../kube/index.ts';
import type { Env } from '../runtime/index.ts';
import { type RolloutView, toRolloutView } from './daemon-rollout.ts';
import type { DaemonSetObject, DaemonSetView, Kind } from './kind.ts';
import { controllerRevisions, daemonRollouts } from './resources.ts';
import { type RevisionView, toRevisionView } from './revisions.ts';

export interface InformersOptions<D extends DaemonSetObject, V extends DaemonSetView, P> {
  kind: Kind<D, V, P>;
  client: KubeClient;
  env: Env;
  /** Undefined: all namespaces. */
  namespace: string | undefined;
  /** Called each time one of the caches has been filled. */
  filled: () => void;
  daemonSets: ReflectorHandler<V>;
  revisions: ReflectorHandler<RevisionView>;
  rollouts: ReflectorHandler<RolloutView>;
}

const OWNER = 'owner';

/** The caches of DaemonSets, their revisions and their rollout objects, of one namespace or of all. */
export const createInformers = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  options: InformersOptions<D, V, P>,
) => {
  const { kind, client, env, namespace, filled, ...handlers } = options;
  const common = <T extends KubeObject, Q>(resource: Resource<T>, handler: ReflectorHandler<Q>) => ({
    client,
    env,
    resource,
    handlers: [handler],
    ...(namespace !== undefined && { namespace }),
  });
  const sets = createReflector({ ...common(kind.resource, handlers.daemonSets), project: (set) => kind.toView(set) });
  const rollouts = createReflector({
    ...common(daemonRollouts, handlers.rollouts),
    project: (rollout) => toRolloutView(rollout, kind.resource),
  });
  const revisions = createReflector({
    ...common(controllerRevisions, handlers.revisions),
    project: (revision) => toRevisionView(revision, kind.resource),
    indexes: { [OWNER]: (revision: RevisionView) => [revision.ownerUid] },
  });
  return {
    /** Keys of the DaemonSets whose rollout objects speak of the present. */
    *managed(): Generator<string> {
      for (const { daemonSet, saysManaged } of rollouts.store.values()) if (saysManaged) yield daemonSet;
    },
    revisionsOf: (ownerUid: string): readonly RevisionView[] => revisions.store.byIndex(OWNER, ownerUid),
    /** Nothing is acted on by rollout objects as they were watched: their cache may lag. */
    synced: (): boolean => sets.synced && revisions.synced,
    /** When the watch of DaemonSets last heard of the API server, epoch ms. */
    lastActivityAt: (): number => sets.lastActivityAt,
    run: async (signal: AbortSignal): Promise<void> => {
      const all = [sets, revisions, rollouts];
      for (const reflector of all) reflector.whenSynced(signal).then(filled, () => undefined);
      await Promise.all(all.map((reflector) => reflector.run(signal)));
    },
  };
};
