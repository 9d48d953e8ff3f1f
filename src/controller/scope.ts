import {
  createReflector,
  type KubeClient,
  type KubeObject,
  type ReflectorHandler,
  type Resource,
} from '../kube/index.ts';
import type { Env } from '../runtime/index.ts';
import { type DaemonSetView, toDaemonSetView } from './daemonset-view.ts';
import { controllerRevisions, daemonRollouts, daemonSets } from './resources.ts';
import { type RevisionView, toRevisionView } from './revision-view.ts';
import { type RolloutView, toRolloutView } from './rollout-view.ts';

export interface ScopeOptions {
  client: KubeClient;
  env: Env;
  /** Undefined: all namespaces. */
  namespace: string | undefined;
  /** Called each time one of the caches has been filled. */
  filled: () => void;
  daemonSets: ReflectorHandler<DaemonSetView>;
  revisions: ReflectorHandler<RevisionView>;
  rollouts: ReflectorHandler<RolloutView>;
}

const OWNER = 'owner';

/** The caches of DaemonSets, their revisions and their rollout objects, of one namespace or of all. */
export const createScope = ({ client, env, namespace, filled, ...handlers }: ScopeOptions) => {
  const common = <T extends KubeObject, P>(resource: Resource<T>, handler: ReflectorHandler<P>) => ({
    client,
    env,
    resource,
    handlers: [handler],
    ...(namespace !== undefined && { namespace }),
  });
  const sets = createReflector({ ...common(daemonSets, handlers.daemonSets), project: toDaemonSetView });
  const rollouts = createReflector({ ...common(daemonRollouts, handlers.rollouts), project: toRolloutView });
  const revisions = createReflector({
    ...common(controllerRevisions, handlers.revisions),
    project: toRevisionView,
    indexes: { [OWNER]: (revision: RevisionView) => [revision.ownerUid] },
  });
  return {
    /** Keys of the rollout objects that speak of the present. */
    *claiming(): Generator<string> {
      for (const [key, { claims }] of rollouts.store.entries()) if (claims) yield key;
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
export type Scope = ReturnType<typeof createScope>;
